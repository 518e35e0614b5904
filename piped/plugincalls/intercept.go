// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugincalls

import (
	"context"
	"path"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// Client returns what sees the calls of piped to a plugin whose program has the SHA-256 build, in hexadecimal.
func (l *Log) Client(plugin, build string) grpc.UnaryClientInterceptor {
	build = build[:min(len(build), buildDigits)]
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		again := rerunOf(ctx)
		if again != nil {
			again(plugin, build)
		}
		if l.options.Off {
			return invoke(ctx, method, request, reply, conn, opts...)
		}
		e := l.start(&entry{direction: agentv1.PluginCall_DIRECTION_TO_PLUGIN,
			caller: caller{plugin: plugin, build: build}, method: method, rerun: again != nil}, request)
		err := invoke(ctx, method, request, reply, conn, opts...)
		l.finish(e, reply, err)
		return err
	}
}

// buildDigits is how much of a SHA-256 is kept.
const buildDigits = 12

// Unary returns what sees the calls of plugins to piped. plugin names the caller; empty when that is not known.
func (l *Log) Unary(plugin func(context.Context) string) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		if l.options.Off {
			return handle(ctx, request)
		}
		e := l.start(&entry{direction: agentv1.PluginCall_DIRECTION_TO_PIPED, caller: caller{plugin: plugin(ctx)},
			method: info.FullMethod}, request)
		reply, err := handle(ctx, request)
		l.finish(e, reply, err)
		return reply, err
	}
}

// Stream is Unary for calls with several answers: each answer is kept as a call, and so is the end with an error.
func (l *Log) Stream(plugin func(context.Context) string) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		if l.options.Off {
			return handle(server, stream)
		}
		watched := &watchedStream{
			ServerStream: stream, log: l, plugin: plugin(stream.Context()), method: info.FullMethod,
		}
		err := handle(server, watched)
		if err != nil {
			l.finish(watched.start(), nil, err)
		}
		return err
	}
}

// watchedStream keeps what is sent. A stream is used by one goroutine at a time.
type watchedStream struct {
	grpc.ServerStream
	log            *Log
	plugin, method string
	request        any
}

func (s *watchedStream) start() *entry {
	e := &entry{direction: agentv1.PluginCall_DIRECTION_TO_PIPED, caller: caller{plugin: s.plugin}, method: s.method,
		streamed: true}
	return s.log.start(e, s.request)
}

func (s *watchedStream) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	if err == nil && s.request == nil {
		s.request = m
	}
	return err
}

func (s *watchedStream) SendMsg(m any) error {
	e := s.start()
	err := s.ServerStream.SendMsg(m)
	s.log.finish(e, m, err)
	return err
}

// start keeps a call that begins.
func (l *Log) start(e *entry, request any) *entry {
	e.request = l.keep(request)
	e.deployment, e.stageID, e.stageName = Subject(request)
	l.begin(e)
	return e
}

// finish completes it.
func (l *Log) finish(e *entry, reply any, err error) {
	var response message
	if err == nil {
		response = l.keep(reply)
	}
	code, detail, failed := status.Code(err).String(), "", err != nil
	if failed {
		detail = l.options.Mask(status.Convert(err).Message())
	}
	if executed, ok := reply.(*deployment.ExecuteStageResponse); ok && err == nil {
		detail = strings.TrimPrefix(executed.GetStatus().String(), "STAGE_")
		failed = executed.GetStatus() == model.StageStatus_STAGE_FAILURE
	}
	if len(detail) > clippedText {
		detail = strings.ToValidUTF8(detail[:clippedText], "") + "…"
	}
	l.end(e, func() {
		e.response, e.code, e.detail = response, code, detail
		e.failed = failed && !(status.Code(err) == codes.Unimplemented && e.stageID == "")
	})
}

// Subject returns the deployment and the stage that a request is about; empty for those that it does not name.
func Subject(request any) (deploymentID, stageID, stageName string) {
	if r, ok := request.(interface{ GetDeploymentId() string }); ok {
		deploymentID = r.GetDeploymentId()
	}
	if r, ok := request.(interface{ GetStageId() string }); ok {
		stageID = r.GetStageId()
	}
	switch r := request.(type) {
	case *deployment.ExecuteStageRequest:
		deploymentID = r.GetInput().GetDeployment().GetId()
		stageID, stageName = r.GetInput().GetStage().GetId(), r.GetInput().GetStage().GetName()
	case *deployment.DetermineVersionsRequest:
		deploymentID = r.GetInput().GetDeployment().GetId()
	case *deployment.DetermineStrategyRequest:
		deploymentID = r.GetInput().GetDeployment().GetId()
	}
	return deploymentID, stageID, stageName
}

// executes reports whether a call executes a stage.
func executes(method string) bool {
	return method == deployment.DeploymentService_ExecuteStage_FullMethodName
}

// laneOf chooses the lane of a call.
func laneOf(e *entry) int {
	switch {
	case e.deployment != "":
		return ofDeployments
	case strings.HasPrefix(e.method, checks) || path.Base(e.method) == "AwaitChanges":
		return ofRepeated
	}
	return ofOthers
}
