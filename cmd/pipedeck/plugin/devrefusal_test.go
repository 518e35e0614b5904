// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// responses are a stream from the control plane: those that a test sends, after the first one.
type responses[T any] struct {
	grpc.ClientStream
	ctx   context.Context
	first *T
	later <-chan *T
	err   error
}

func (r *responses[T]) Recv() (first *T, err error) {
	if first, r.first = r.first, nil; first != nil || r.err != nil {
		return first, r.err
	}
	select {
	case one := <-r.later:
		return one, nil
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	}
}

// fakeDeck passes on what a test sends, after a state with a deployment.
type fakeDeck struct {
	deckv1.DeckServiceClient
	first   *deckv1.WatchResponse
	changes chan *deckv1.WatchResponse
}

func (f *fakeDeck) Watch(ctx context.Context, _ *deckv1.WatchRequest, _ ...grpc.CallOption) (
	grpc.ServerStreamingClient[deckv1.WatchResponse], error) {
	return &responses[deckv1.WatchResponse]{ctx: ctx, first: f.first, later: f.changes}, nil
}

// fakeDevelopment answers re-runs with an error, or without one with success.
type fakeDevelopment struct {
	deckv1.PluginDevelopmentServiceClient
	refuse error
}

func (f *fakeDevelopment) RerunStage(ctx context.Context, _ *deckv1.RerunStageRequest, _ ...grpc.CallOption) (
	grpc.ServerStreamingClient[deckv1.RerunStageResponse], error) {
	if f.refuse != nil {
		return &responses[deckv1.RerunStageResponse]{err: f.refuse}, nil
	}
	return &responses[deckv1.RerunStageResponse]{ctx: ctx, first: &deckv1.RerunStageResponse{
		Kind: &deckv1.RerunStageResponse_Result{Result: &deckv1.RerunResult{
			Status: deckv1.StageStatus_STAGE_STATUS_SUCCESS}}}}, nil
}

// printed is what a user sees; a test waits for its lines.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (p *printed) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case p.more <- struct{}{}:
	default:
	}
	return p.text.Write(text)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func (p *printed) await(t *testing.T, part string) {
	t.Helper()
	for !strings.Contains(p.String(), part) {
		select {
		case <-p.more:
		case <-t.Context().Done():
			require.Fail(t, "not printed: "+part, p.String())
		}
	}
}

// developed is a loop whose plugin has executed a stage of a deployment.
func developed(status deckv1.DeploymentStatus, refuse error) (d *dev, deck *fakeDeck, out *printed) {
	deployment := &deckv1.Deployment{Id: "d", ApplicationId: "app", ApplicationName: "shop", Status: status,
		CreatedAt: timestamppb.Now(),
		Stages:    []*deckv1.Stage{{Id: "s", Name: "GREET", StartedAt: timestamppb.Now()}}}
	if status == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS {
		deployment.CompletedAt = timestamppb.Now()
	}
	deck = &fakeDeck{changes: make(chan *deckv1.WatchResponse), first: &deckv1.WatchResponse{Events: []*deckv1.Event{
		{Kind: &deckv1.Event_Plugin{Plugin: &deckv1.Plugin{Name: "greeter", Stages: []string{"GREET"},
			State: deckv1.Plugin_STATE_RUNNING}}},
		{Kind: &deckv1.Event_Application{Application: &deckv1.Application{Id: "app", Name: "shop"}}},
		deploymentEvent(deployment),
		{Kind: &deckv1.Event_Synced{Synced: &deckv1.Synced{}}},
	}}}
	out = &printed{more: make(chan struct{}, 1)}
	s := &session.Session{Deck: deck, Development: &fakeDevelopment{refuse: refuse}, Out: out, Err: out}
	d = &dev{name: "greeter", choice: &rerunChoice{}, cmd: newDevCommand(&session.Target{}), session: s,
		printer: &lines{out: out}}
	return d, deck, out
}

func deploymentEvent(d *deckv1.Deployment) *deckv1.Event {
	return &deckv1.Event{Kind: &deckv1.Event_Deployment{Deployment: d}}
}

func TestAStageRunsAgainOnceTheDeploymentUnderWayHasEnded(t *testing.T) {
	t.Parallel()
	d, deck, out := developed(deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING, nil)
	d.again(t.Context())
	out.await(t, "deployment d of shop is RUNNING; the stage runs again when it has ended\n")
	ended := proto.CloneOf(deck.first.Events[2].GetDeployment())
	ended.CompletedAt = timestamppb.Now()
	deck.changes <- &deckv1.WatchResponse{Events: []*deckv1.Event{deploymentEvent(ended)}}
	out.await(t, "SUCCESS; the deployment stays")
	<-d.rerun.done
}

func TestAStageThatIsNotRunAgainSaysHowItIs(t *testing.T) {
	t.Parallel()
	d, _, out := developed(deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS,
		status.Error(codes.FailedPrecondition, "too many stages are being re-run; end one with Ctrl-C"))
	d.again(t.Context())
	<-d.rerun.done
	require.Regexp(t, regexp.MustCompile(`\n\d\d:\d\d:\d\d\.\d{3}  the stage was not run again: too many stages are `+
		`being re-run\n\d\d:\d\d:\d\d\.\d{3}  next step: end one with Ctrl-C\n`+
		`\d\d:\d\d:\d\d\.\d{3}  it runs after the next build; press Enter to run the stage again now\n$`), out.String())
}
