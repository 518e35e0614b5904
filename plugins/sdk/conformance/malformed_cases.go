// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

const deploymentService = "/grpc.plugin.deploymentapi.v1alpha1.DeploymentService/"

func malformedCases() []Case {
	const why = "one bad request would end the stages of all deployments that the process runs"
	const next = "check the request before its fields are used, answer InvalidArgument, and catch a panic or " +
		"exception " +
		"of a call"
	list := []Case{}
	for _, request := range badRequests() {
		list = append(list, Case{
			ID: "malformed." + request.id, Capability: Malformed, Why: why, Next: next,
			Title: request.what + " does not end the process",
			run: func(p *probe) error {
				return survives(p, func(x *session) error {
					ctx, cancel := p.limit()
					defer cancel()
					return x.conn.Invoke(ctx, deploymentService+request.method, request.message(),
						&deployment.ExecuteStageResponse{})
				})
			},
		})
	}
	return append(list, Case{
		ID: "malformed.bytes", Capability: Malformed, Why: why, Next: next,
		Title: "bytes that are no message do not end the process",
		run: func(p *probe) error {
			return survives(p, func(x *session) error { return invokeRaw(p, x, deploymentService+"ExecuteStage") })
		},
	}, Case{
		ID: "malformed.method", Capability: Malformed, run: unknownMethod,
		Title: "a method that it does not have is answered with Unimplemented",
		Why: "that is how a newer piped finds out what a plugin has; with another answer it reports an error each " +
			"time",
		Next: "leave unknown methods to the gRPC library",
	}, Case{
		ID: "malformed.newer", Capability: Malformed, run: newerFields,
		Title: "fields that it does not know do not change the answer",
		Why:   "a newer piped adds fields to requests; every deployment would fail after its update",
		Next:  "ignore unknown fields, as protobuf does by itself",
	}, Case{
		ID: "malformed.survived", Capability: Malformed, run: survived, last: true,
		Title: "the process lives until it is stopped",
		Why:   "an end in the middle takes the stages of all deployments with it",
		Next:  "run the case that was running when it ended alone, with --only and --verbose",
	})
}

// badRequest is a request that breaks the rules of the protocol.
type badRequest struct {
	id, what, method string
	message          func() proto.Message
}

func badRequests() []badRequest {
	return []badRequest{
		{"execute.empty", "ExecuteStage without input", "ExecuteStage", func() proto.Message {
			return &deployment.ExecuteStageRequest{}
		}},
		{"execute.fields", "ExecuteStage without deployment and stage", "ExecuteStage", func() proto.Message {
			return &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{}}
		}},
		{"execute.stage", "ExecuteStage for a stage without a name", "ExecuteStage", func() proto.Message {
			return &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
				Deployment: &model.Deployment{Id: "d"}, Stage: &model.PipelineStage{Id: "s"}}}
		}},
		{"versions.empty", "DetermineVersions without input", "DetermineVersions", func() proto.Message {
			return &deployment.DetermineVersionsRequest{}
		}},
		{"strategy.empty", "DetermineStrategy without input", "DetermineStrategy", func() proto.Message {
			return &deployment.DetermineStrategyRequest{}
		}},
		{"strategy.fields", "DetermineStrategy without sources", "DetermineStrategy", func() proto.Message {
			return &deployment.DetermineStrategyRequest{Input: &deployment.PlanPluginInput{
				Deployment: &model.Deployment{Id: "d"}}}
		}},
		{"pipeline.index", "BuildPipelineSyncStages with an index below 0", "BuildPipelineSyncStages",
			func() proto.Message {
				return &deployment.BuildPipelineSyncStagesRequest{Stages: []*stageConfig{{Name: "X", Index: -1}}}
			}},
		{"pipeline.nameless", "BuildPipelineSyncStages with a stage without a name", "BuildPipelineSyncStages",
			func() proto.Message {
				return &deployment.BuildPipelineSyncStagesRequest{Stages: []*stageConfig{{}}}
			}},
	}
}

// survives sends something and checks that the process serves on. Any answer will do.
func survives(p *probe, send func(*session) error) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	err = send(x)
	if died := x.gone(err); died != nil {
		return died
	}
	switch status.Code(err) {
	case codes.DeadlineExceeded:
		return fmt.Errorf("it did not answer in %s", p.suite.bounds.Answer)
	case codes.Unavailable:
		return fmt.Errorf("it ended the connection: %s", words(err))
	}
	ctx, cancel := p.limit()
	defer cancel()
	if _, err := x.deployments().FetchDefinedStages(ctx, &deployment.FetchDefinedStagesRequest{}); err != nil {
		if died := x.gone(err); died != nil {
			return died
		}
		return fmt.Errorf("it does not serve afterwards: %s", words(err))
	}
	p.saw("%s", words(err))
	return nil
}

// rawCodec sends bytes as they are.
type rawCodec struct{}

var _ encoding.Codec = rawCodec{}

func (rawCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = data; return nil }
func (rawCodec) Name() string                       { return "proto" }

func invokeRaw(p *probe, x *session, method string) error {
	ctx, cancel := p.limit()
	defer cancel()
	noise, answer := []byte{0xff, 0xff, 0xff, 0x0a, 0x80}, []byte{}
	return x.conn.Invoke(ctx, method, &noise, &answer, grpc.ForceCodec(rawCodec{}))
}

func unknownMethod(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	for _, method := range []string{deploymentService + "NoSuchMethod", "/conformance.NoSuchService/NoSuchMethod"} {
		ctx, cancel := p.limit()
		err := x.conn.Invoke(ctx, method, &deployment.FetchDefinedStagesRequest{},
			&deployment.FetchDefinedStagesResponse{})
		cancel()
		if died := x.gone(err); died != nil {
			return died
		}
		if status.Code(err) != codes.Unimplemented {
			return fmt.Errorf("%s is answered with %s, not with Unimplemented", method, words(err))
		}
	}
	return nil
}

func newerFields(p *probe) error {
	first, err := p.settled()
	if err != nil {
		return err
	}
	// A field that no version has: number 2000, a text of one letter.
	unknown := []byte{0x82, 0x7d, 0x01, 'x'}
	e, err := p.used.execute(p, order{edit: func(request *deployment.ExecuteStageRequest) {
		request.ProtoReflect().SetUnknown(unknown)
		request.GetInput().ProtoReflect().SetUnknown(unknown)
		request.GetInput().GetStage().ProtoReflect().SetUnknown(unknown)
	}})
	switch {
	case err != nil:
		return err
	case e.kind() != first.kind():
		return fmt.Errorf("with fields that it does not know the stage ended in %s, and in %s otherwise: %s", e.kind(),
			first.kind(), e.how())
	}
	return nil
}

func survived(p *probe) error {
	if _, err := p.ranOnce(); err != nil {
		return err
	}
	p.suite.mu.Lock()
	defer p.suite.mu.Unlock()
	for _, x := range append(p.suite.before, p.suite.common) {
		if x != nil && !x.process.running() {
			return fmt.Errorf("the process of several cases ended by itself: %s", x.process.end())
		}
	}
	return nil
}
