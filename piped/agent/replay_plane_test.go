// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"context"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane/controlplanetest"
)

// patience is for an agent that polls as PipeCD's does, on a busy machine.
const patience = 2 * time.Minute

// plane is a control plane that knows PipeCD's services only, holds what a scenario says, and keeps every call.
type plane struct {
	pipedservice.UnimplementedPipedServiceServer
	address string

	mu       sync.Mutex
	changed  *sync.Cond
	calls    []call
	metadata metadata.MD // of the first call

	introduction *pipedservice.ReportPipedMetaResponse
	applications []*model.Application
	deployments  []*model.Deployment
	commands     []*model.Command
	events       []*model.Event
	// deployed are the most recent deployments by application and status.
	deployed map[string]*model.ApplicationDeploymentReference
	// turns are how often a deployment of a chain still has to wait for its block.
	turns   int
	resting map[string]bool // deployments that are over, by their application's word
	// seen is called after each call, with the lock held.
	seen func(proto.Message)
}

func startPlane(t *testing.T) *plane {
	t.Helper()
	p := &plane{introduction: &pipedservice.ReportPipedMetaResponse{},
		deployed: map[string]*model.ApplicationDeploymentReference{}, resting: map[string]bool{}}
	p.changed = sync.NewCond(&p.mu)
	server := grpc.NewServer(grpc.UnaryInterceptor(p.serve))
	pipedservice.RegisterPipedServiceServer(server, p)
	p.address = controlplanetest.ServeGRPC(t, server)
	return p
}

// serve answers in place of the methods.
func (p *plane) serve(ctx context.Context, request any, info *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
	if err := request.(interface{ Validate() error }).Validate(); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.changed.Broadcast()
	if p.metadata == nil {
		p.metadata, _ = metadata.FromIncomingContext(ctx)
	}
	message := request.(proto.Message)
	answer, err := p.answer(message)
	if answer == nil && err == nil {
		method, failed := methodOf(info.FullMethod)
		if failed != nil {
			return nil, failed
		}
		if answer, err = newMessage(method.Output()); err != nil {
			return nil, err
		}
	}
	p.calls = append(p.calls, call{link: controlPlaneLink, method: path.Base(info.FullMethod),
		code: status.Code(err).String(), request: message})
	if p.seen != nil {
		p.seen(message)
	}
	return answer, err
}

// answer returns nil for an empty answer.
func (p *plane) answer(request proto.Message) (proto.Message, error) {
	switch r := request.(type) {
	case *pipedservice.ReportPipedMetaRequest:
		return p.introduction, nil
	case *pipedservice.ListApplicationsRequest:
		return proto.CloneOf(&pipedservice.ListApplicationsResponse{Applications: p.applications}), nil
	case *pipedservice.ListUnhandledCommandsRequest:
		return proto.CloneOf(&pipedservice.ListUnhandledCommandsResponse{Commands: p.commands}), nil
	case *pipedservice.ReportCommandHandledRequest:
		p.commands = slices.DeleteFunc(p.commands, func(c *model.Command) bool { return c.GetId() == r.GetCommandId() })
	case *pipedservice.ListEventsRequest:
		return proto.CloneOf(&pipedservice.ListEventsResponse{Events: p.events}), nil
	case *pipedservice.GetLatestEventRequest:
		for _, e := range p.events {
			if e.GetName() == r.GetName() {
				return &pipedservice.GetLatestEventResponse{Event: proto.CloneOf(e)}, nil
			}
		}
		return nil, status.Error(codes.NotFound, "no such event")
	case *pipedservice.ReportEventStatusesRequest:
		p.events = slices.DeleteFunc(p.events, func(e *model.Event) bool {
			return slices.ContainsFunc(r.GetEvents(),
				func(o *pipedservice.ReportEventStatusesRequest_Event) bool { return o.GetId() == e.GetId() })
		})
	case *pipedservice.GetApplicationMostRecentDeploymentRequest:
		if known := p.deployed[r.GetApplicationId()+r.GetStatus().String()]; known != nil {
			return &pipedservice.GetApplicationMostRecentDeploymentResponse{Deployment: proto.CloneOf(known)}, nil
		}
		return nil, status.Error(codes.NotFound, "deployment is not found")
	default:
		return p.answerDeployments(request)
	}
	return nil, nil
}

func (p *plane) answerDeployments(request proto.Message) (proto.Message, error) {
	switch r := request.(type) {
	case *pipedservice.ListNotCompletedDeploymentsRequest:
		answer := &pipedservice.ListNotCompletedDeploymentsResponse{}
		for _, d := range p.deployments {
			if d.GetCompletedAt() == 0 {
				answer.Deployments = append(answer.Deployments, proto.CloneOf(d))
			}
		}
		return answer, nil
	case *pipedservice.InChainDeploymentPlannableRequest:
		p.turns--
		return &pipedservice.InChainDeploymentPlannableResponse{Plannable: p.turns < 0}, nil
	case *pipedservice.CreateDeploymentRequest:
		p.deployments = append(p.deployments, proto.CloneOf(r.GetDeployment()))
	case *pipedservice.CreateDeploymentChainRequest:
		d := proto.CloneOf(r.GetFirstDeployment())
		d.DeploymentChainId = chainID // of block 0
		p.deployments = append(p.deployments, d)
	case *pipedservice.GetDeploymentRequest:
		if d := p.deployment(r.GetId()); d != nil {
			return &pipedservice.GetDeploymentResponse{Deployment: proto.CloneOf(d)}, nil
		}
		return nil, status.Error(codes.NotFound, "deployment is not found")
	case *pipedservice.ReportDeploymentPlannedRequest:
		d := p.deployment(r.GetDeploymentId())
		d.Status, d.Stages, d.Summary = model.DeploymentStatus_DEPLOYMENT_PLANNED, proto.CloneOf(r).GetStages(),
			r.GetSummary()
	case *pipedservice.ReportDeploymentStatusChangedRequest:
		p.deployment(r.GetDeploymentId()).Status = r.GetStatus()
	case *pipedservice.ReportDeploymentCompletedRequest:
		d := p.deployment(r.GetDeploymentId())
		d.Status, d.CompletedAt = r.GetStatus(), r.GetCompletedAt()
	case *pipedservice.ReportApplicationMostRecentDeploymentRequest:
		p.deployed[r.GetApplicationId()+r.GetStatus().String()] = proto.CloneOf(r.GetDeployment())
		for _, a := range p.applications {
			if a.GetId() == r.GetApplicationId() && r.GetStatus() == model.DeploymentStatus_DEPLOYMENT_SUCCESS {
				a.MostRecentlySuccessfulDeployment = proto.CloneOf(r.GetDeployment())
			}
		}
	case *pipedservice.ReportApplicationDeployingStatusRequest:
		for _, d := range p.deployments {
			if d.GetApplicationId() == r.GetApplicationId() && d.GetCompletedAt() != 0 && !r.GetDeploying() {
				p.resting[d.GetId()] = true
			}
		}
	}
	return nil, nil
}

func (p *plane) deployment(id string) *model.Deployment {
	for _, d := range p.deployments {
		if d.GetId() == id {
			return d
		}
	}
	return nil
}

// nudge has those who wait look again.
func (p *plane) nudge() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed.Broadcast()
}

// await waits until the condition holds; it is called with the lock held.
func (p *plane) await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stop := context.AfterFunc(ctx, p.nudge)
	defer stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !condition() {
		if ctx.Err() != nil {
			var methods []string
			for _, c := range p.calls {
				methods = append(methods, c.method)
			}
			require.Fail(t, "timed out waiting for "+what, "calls so far: %q", methods)
		}
		p.changed.Wait()
	}
}
