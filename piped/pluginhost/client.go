// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
)

const (
	// maxMessage bounds an answer of a plugin in bytes. PipeCD v1 allows 4 MiB, too little for the live
	// state of a large application.
	maxMessage = 64 << 20
	// exitNotice is how long a broken connection may precede the news of the process's end.
	exitNotice = 2 * time.Second
)

var _ grpc.ClientConnInterface = (*Plugin)(nil)

// Deployment is a client that follows the plugin from process to process.
func (p *Plugin) Deployment() deployment.DeploymentServiceClient {
	return deployment.NewDeploymentServiceClient(p)
}

// Livestate is a client that follows the plugin from process to process.
func (p *Plugin) Livestate() livestate.LivestateServiceClient {
	return livestate.NewLivestateServiceClient(p)
}

// LivestateChanges is a client that follows the plugin from process to process.
func (p *Plugin) LivestateChanges() livestate.LivestateChangeServiceClient {
	return livestate.NewLivestateChangeServiceClient(p)
}

// PlanPreview is a client that follows the plugin from process to process.
func (p *Plugin) PlanPreview() planpreview.PlanPreviewServiceClient {
	return planpreview.NewPlanPreviewServiceClient(p)
}

// Invoke makes one call to the present process. When the process ends during the call the error is an
// ExitError, without one a NotRunningError; both are Unavailable.
func (p *Plugin) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if err := p.awaitBuild(ctx, method, args, opts); err != nil {
		return status.FromContextError(err).Err()
	}
	key, keyed := inputOf(method, args)
	if keyed {
		leave, err := p.admit(ctx, key, p.build())
		if err != nil {
			return err
		}
		defer leave()
	}
	proc, done, err := p.callProcess(method, opts)
	if err != nil {
		return err
	}
	defer done()
	if keyed {
		defer proc.inputs.begin(key)()
	}
	p.handOver(args)
	err = proc.conn.Invoke(p.noteTaken(ctx, proc, opts), method, args, reply, opts...)
	if ctx.Err() != nil || (err == nil && !interrupted(proc, reply)) {
		if keyed && err == nil {
			p.acquit(key)
		}
		return err
	}
	if c := status.Code(err); err != nil && c != codes.Unavailable && c != codes.Canceled && !proc.stopping.Load() {
		return err
	}
	signal(proc.suspect)
	notice := time.NewTimer(exitNotice)
	defer notice.Stop()
	select {
	case <-proc.exited:
		return proc.exit
	case <-notice.C:
		if !proc.gone.Load() {
			break
		}
		select { // what the process has left is being ended, and what it has written is being reported
		case <-proc.exited:
			return proc.exit
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	if err == nil {
		return &NotRunningError{Plugin: p.Name(), State: "is being stopped", Begun: true}
	}
	return err
}

// build is the path of the binary that calls go to; empty for none.
func (p *Plugin) build() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil {
		return ""
	}
	return p.process.command.Path
}

// NewStream is refused: the plugin services have no streams.
func (p *Plugin) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "plugin services have no streams")
}

// outlasts tells whether a replaced process stays for a call. Questions for changes only wait, and are asked
// again.
func outlasts(method string) bool {
	return !strings.HasPrefix(method, "/"+livestate.LivestateChangeService_ServiceDesc.ServiceName+"/")
}

// interrupted tells whether an answer only says that the plugin was stopped in the middle of a stage.
func interrupted(proc *process, reply any) bool {
	answer, ok := reply.(*deployment.ExecuteStageResponse)
	if !ok || !proc.stopping.Load() {
		return false
	}
	switch answer.GetStatus() {
	case model.StageStatus_STAGE_SUCCESS, model.StageStatus_STAGE_SKIPPED, model.StageStatus_STAGE_EXITED:
		return false
	default:
		return true
	}
}

// awaitReady asks a new process for its abilities. It fails as soon as the process ends, at the start
// deadline, and with the cause of ctx.
func (p *Plugin) awaitReady(ctx context.Context, proc *process) (abilities, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.options.StartTimeout, errStartTimeout)
	defer cancel()
	type answer struct {
		abilities
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		able, err := askAbilities(ctx, proc.conn)
		answered <- answer{able, err}
	}()
	select {
	case a := <-answered:
		switch {
		case a.err == nil:
			return a.abilities, nil
		case errors.Is(context.Cause(ctx), errStartTimeout):
			return abilities{}, p.startTimeoutError(proc)
		case ctx.Err() != nil:
			return abilities{}, context.Cause(ctx)
		}
		select {
		case <-proc.exited: // and that is why it did not answer
			return abilities{}, proc.exit
		case <-time.After(exitNotice):
			return abilities{}, fmt.Errorf("ask plugin %q for its stages: %w", p.Name(), a.err)
		}
	case <-proc.exited:
		cancel()
		<-answered
		return abilities{}, proc.exit
	}
}

// askAbilities waits until the plugin answers.
func askAbilities(ctx context.Context, conn *grpc.ClientConn) (able abilities, err error) {
	response, err := deployment.NewDeploymentServiceClient(conn).
		FetchDefinedStages(ctx, &deployment.FetchDefinedStagesRequest{}, grpc.WaitForReady(true))
	if status.Code(err) == codes.Unimplemented {
		err = nil // a plugin for live state alone
	}
	if err != nil {
		return able, err
	}
	able.stages = response.GetStages()
	able.sources, err = deployment.NewSourceUseServiceClient(conn).GetSourceUse(ctx, &deployment.GetSourceUseRequest{})
	if status.Code(err) == codes.Unimplemented {
		return abilities{stages: able.stages}, nil // PipeCD's plugins
	}
	return able, err
}

var errStartTimeout = errors.New("start timeout")

func (p *Plugin) startTimeoutError(proc *process) error {
	text := fmt.Sprintf("plugin %q did not answer%s within %s of its start", p.Name(), proc.place(), p.options.StartTimeout)
	if last := p.output.since(proc.mark); len(last) > 0 {
		text += "; its last output: " + strings.Join(last[max(0, len(last)-linesInError):], " | ")
	}
	return permanentError{errors.New(text + "; see its output, or allow more time with --plugin-start-timeout")}
}

// dial makes the connection to a new process.
func dial(proc *process, patience time.Duration, calls func(plugin string) grpc.UnaryClientInterceptor) (*grpc.ClientConn, error) {
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithStatsHandler(beginnings{}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
	}
	if calls != nil {
		options = append(options, grpc.WithUnaryInterceptor(calls(proc.plugin)))
	}
	if proc.link != nil {
		return grpc.NewClient("passthrough:///"+fileName(proc.plugin), append(options, overLink(proc.link.serve, patience)...)...)
	}
	// It tries often: a plugin listens a few hundredths of a second after its start.
	return grpc.NewClient("passthrough:///"+net.JoinHostPort("127.0.0.1", strconv.Itoa(proc.port)),
		append(options, grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 5 * time.Millisecond, Multiplier: 1.3, Jitter: 0.2, MaxDelay: 100 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}))...)
}
