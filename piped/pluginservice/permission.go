// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"net"
	"os"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// guests are the plugins that were started without a link, with the number of their processes. They share
// the loopback interface and cannot be distinguished there.
type guests struct {
	mu    sync.Mutex
	count map[string]int
}

func (g *guests) add(plugin string) (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count[plugin]++
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.count[plugin]--; g.count[plugin] == 0 {
			delete(g.count, plugin)
		}
	})
}

func (g *guests) names() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	names := make([]string, 0, len(g.count))
	for name := range g.count {
		names = append(names, name)
	}
	return names
}

// permit refuses what a plugin asks about something that is not in its hands. A deployment that no one plans
// or runs is left to the handlers, which answer as PipeCD v1.
func (s *Server) permit(ctx context.Context, request any) error {
	if !s.options.Guarded {
		return nil
	}
	plugins := []string{callerOf(ctx).plugin}
	who := "plugin " + plugins[0]
	if plugins[0] == "" {
		plugins, who = s.guests.names(), "a caller over loopback"
		if len(plugins) == 0 {
			return status.Error(codes.PermissionDenied, "no plugin of this piped calls over loopback")
		}
	}
	if r, ok := request.(interface{ GetPluginName() string }); ok && !slices.Contains(plugins, r.GetPluginName()) {
		return status.Errorf(
			codes.PermissionDenied, "%s may not read or change what plugin %q keeps", who, r.GetPluginName(),
		)
	}
	r, ok := request.(interface{ GetDeploymentId() string })
	if !ok {
		return nil
	}
	stage := changedStage(request)
	d, err := s.options.Registry.find(r.GetDeploymentId())
	if err != nil {
		// The last log lines, and the question why a stage stops, may come after the end.
		if d = s.options.Registry.findEnded(r.GetDeploymentId()); d == nil && stage == "" {
			return nil
		}
		if d == nil {
			return err
		}
	}
	if slices.ContainsFunc(plugins, func(plugin string) bool { return d.inHandsOf(plugin, stage) }) {
		return nil
	}
	if stage != "" {
		return status.Errorf(
			codes.PermissionDenied, "stage %q of deployment %q is not in the hands of %s", stage, r.GetDeploymentId(),
			who,
		)
	}
	return status.Errorf(codes.PermissionDenied, "deployment %q is not in the hands of %s", r.GetDeploymentId(), who)
}

// changedStage is the stage that a request changes or waits for; empty when it only reads.
func changedStage(request any) string {
	switch r := request.(type) {
	case *pluginservice.ReportStageLogsRequest:
		return r.GetStageId()
	case *pluginservice.ReportStageLogsFromLastCheckpointRequest:
		return r.GetStageId()
	case *pluginservice.PutStageMetadataRequest:
		return r.GetStageId()
	case *pluginservice.PutStageMetadataMultiRequest:
		return r.GetStageId()
	case *pluginservice.ListStageCommandsRequest:
		return r.GetStageId()
	case *agentv1.WatchStageCommandsRequest:
		return r.GetStageId()
	}
	return ""
}

// guard is permit for calls.
func (s *Server) guard(
	ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler,
) (any, error) {
	if err := s.permit(ctx, request); err != nil {
		return nil, err
	}
	return handle(ctx, request)
}

// Attach serves a plugin process over its private connection until that closes. Logs is the
// memory of JournalSize bytes in which the process keeps what it passes to stage logs (agentv1.StageLogRecord); Attach
// owns it. Finish is called when the process is gone: it reports what the process has written and not reported.
func (s *Server) Attach(plugin string, conn net.Conn, logs *os.File) (finish func()) {
	j := newJournal(s, plugin, logs)
	s.links.add(linkConn{conn, plugin, j})
	return j.finish
}

// holds reports whether a stage is in the hands of a plugin.
func (s *Server) holds(plugin, deploymentID, stageID string) bool {
	d, err := s.options.Registry.find(deploymentID)
	if err != nil {
		d = s.options.Registry.findEnded(deploymentID)
	}
	return d != nil && (!s.options.Guarded || d.inHandsOf(plugin, stageID))
}

// Expect lets callers over loopback act for a plugin until release is called.
func (s *Server) Expect(plugin string) (release func()) { return s.guests.add(plugin) }

// Hand puts a deployment, and a stage of it unless that is empty, into the hands of a plugin. They stay there
// until piped is done with the deployment: plugins write their last lines after they have answered.
func (s *Server) Hand(plugin, deploymentID, stageID string) {
	if d, err := s.options.Registry.find(deploymentID); err == nil {
		d.hand(plugin, stageID)
	}
}
