// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// answerLimit is the time that a piped has for each part of its answer, where it need not wait for new calls.
const answerLimit = 15 * time.Second

// PluginCalls serves the PluginCallService of users.
type PluginCalls struct {
	deckv1.UnimplementedPluginCallServiceServer
	calls *store.PluginCalls
}

var _ deckv1.PluginCallServiceServer = (*PluginCalls)(nil)

// NewPluginCalls returns the service on the answers of pipeds.
func NewPluginCalls(calls *store.PluginCalls) *PluginCalls { return &PluginCalls{calls: calls} }

// ListPluginCalls passes the answers of all pipeds on, as they come.
func (p *PluginCalls) ListPluginCalls(
	r *deckv1.ListPluginCallsRequest, stream grpc.ServerStreamingServer[deckv1.ListPluginCallsResponse],
) error {
	questions, err := p.calls.Ask(&agentv1.PluginCallQuestion{
		Filter: pluginCallFilter(r.GetFilter()), Follow: r.GetFollow(), Messages: r.GetMessages(),
	})
	if err != nil {
		return err
	}
	answers, ctx := errgroup.WithContext(stream.Context())
	var sending sync.Mutex
	for _, question := range questions {
		answers.Go(func() error {
			defer question.Close()
			for first := true; ; first = false {
				calls, err := nextCalls(ctx, question, first || !r.GetFollow())
				if err != nil || calls == nil {
					return err
				}
				sending.Lock()
				err = stream.Send(&deckv1.ListPluginCallsResponse{Calls: pluginCalls(question.PipedID(), calls)})
				sending.Unlock()
				if err != nil {
					return err
				}
			}
		})
	}
	return answers.Wait()
}

const (
	// stageCallsLimit is the time that a piped has to list the calls of a stage, of which the last maxStageCalls count.
	stageCallsLimit = 2 * time.Second
	maxStageCalls   = 200
)

// stageCalls returns the calls of a stage in the order in which they began.
func (s *Server) stageCalls(ctx context.Context, r *deckv1.GetStageRunRequest) (calls []*deckv1.PluginCall) {
	questions, err := s.store.PluginCalls.Ask(&agentv1.PluginCallQuestion{
		Filter: &agentv1.PluginCallFilter{DeploymentId: r.GetDeploymentId(), Stage: r.GetStageId()},
	})
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stageCallsLimit)
	defer cancel()
	for _, question := range questions {
		for part, more := question.Next(ctx); more; part, more = question.Next(ctx) {
			calls = append(calls, pluginCalls(question.PipedID(), part)...)
		}
		question.Close()
	}
	slices.SortStableFunc(calls, func(a, b *deckv1.PluginCall) int {
		return a.GetStartedAt().AsTime().Compare(b.GetStartedAt().AsTime())
	})
	return calls[max(0, len(calls)-maxStageCalls):]
}

// nextCalls returns the next part of an answer; nil when the answer is whole.
func nextCalls(ctx context.Context, question *store.PluginCallQuestion, soon bool) (
	[]*agentv1.PluginCall, error) {
	outer := ctx
	if soon {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, answerLimit)
		defer cancel()
	}
	calls, more := question.Next(ctx)
	switch {
	case more && calls == nil:
		return []*agentv1.PluginCall{}, nil
	case more || ctx.Err() == nil:
		return calls, nil
	case outer.Err() != nil:
		return nil, outer.Err()
	}
	return nil, status.Errorf(codes.DeadlineExceeded, "piped did not list its calls within %s", answerLimit)
}

func pluginCallFilter(f *deckv1.PluginCallFilter) *agentv1.PluginCallFilter {
	return &agentv1.PluginCallFilter{
		Plugin: f.GetPlugin(), DeploymentId: f.GetDeploymentId(), Stage: f.GetStage(), Id: f.GetId(),
		Failed: f.GetFailed(), Checks: f.GetChecks(),
	}
}

// pluginCalls are calls of a piped as users see them.
func pluginCalls(pipedID string, calls []*agentv1.PluginCall) []*deckv1.PluginCall {
	all := make([]*deckv1.PluginCall, 0, len(calls))
	for _, c := range calls {
		all = append(all, &deckv1.PluginCall{
			Id: c.GetId(), StartedAt: c.GetStartedAt(), Direction: deckv1.PluginCall_Direction(c.GetDirection()),
			Plugin: c.GetPlugin(), Method: c.GetMethod(), Build: c.GetBuild(), DeploymentId: c.GetDeploymentId(),
			StageId: c.GetStageId(), StageName: c.GetStageName(), Duration: c.GetDuration(), Code: c.GetCode(),
			Detail: c.GetDetail(), RequestBytes: c.GetRequestBytes(), ResponseBytes: c.GetResponseBytes(),
			Failed: c.GetFailed(), PipedId: pipedID, Streamed: c.GetStreamed(), Request: c.GetRequest(),
			Response: c.GetResponse(), RequestJson: c.GetRequestJson(), ResponseJson: c.GetResponseJson(),
			RequestClipped: c.GetRequestClipped(), ResponseClipped: c.GetResponseClipped(), Rerun: c.GetRerun(),
		})
	}
	return all
}
