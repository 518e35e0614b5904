// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pipedapi

import (
	"context"

	"google.golang.org/grpc"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// Watch sends the piped what to fetch again until the piped or this server ends.
func (a *Agent) Watch(r *agentv1.WatchRequest, stream grpc.ServerStreamingServer[agentv1.WatchResponse]) error {
	watch, err := a.store.Pipeds.Watch(auth.Piped(stream.Context()), store.Abilities{
		DeploysCommits: r.GetDeploysCommits(), RemovesApplications: r.GetRemovesApplications(),
		AnswersPluginCalls: r.GetAnswersPluginCalls(), RerunsStages: r.GetRerunsStages(),
		TakesFaults: r.GetTakesFaults(), StopsAtBreakpoints: r.GetStopsAtBreakpoints(),
		LooksOnRequest: r.GetLooksOnRequest(),
	})
	if err != nil {
		return err
	}
	defer watch.Close()
	for first := true; ; first = false {
		dirty, err := watch.Next(stream.Context())
		if err != nil {
			return err
		}
		var breakpoints *agentv1.Breakpoints
		if first || dirty.Breakpoints {
			breakpoints = breakpointsOf(a.store.Environment.Breakpoints())
		}
		if err := stream.Send(&agentv1.WatchResponse{
			Breakpoints:  breakpoints,
			Applications: dirty.Applications, Commands: dirty.Commands, Deployments: dirty.Deployments,
			Events: dirty.Events, RestartPlugins: dirty.RestartPlugins, PluginCalls: dirty.PluginCalls,
			StageReruns: dirty.StageReruns, Faults: dirty.Faults, Looks: dirty.Looks,
		}); err != nil {
			return err
		}
	}
}

// ReportApplicationPlugins stores which plugins applications use.
func (a *Agent) ReportApplicationPlugins(
	ctx context.Context, r *agentv1.ReportApplicationPluginsRequest,
) (*agentv1.ReportApplicationPluginsResponse, error) {
	return reply(&agentv1.ReportApplicationPluginsResponse{},
		a.store.Applications.ReportPlugins(auth.Piped(ctx), r.GetApplications()))
}

// ReportHealth replaces the piped's problems. The call itself is its heartbeat.
func (a *Agent) ReportHealth(
	ctx context.Context, r *agentv1.ReportHealthRequest,
) (*agentv1.ReportHealthResponse, error) {
	return reply(&agentv1.ReportHealthResponse{}, a.store.Pipeds.ReportHealth(auth.Piped(ctx), r.GetProblems()))
}

// ReportDrift stores the fields of the live state that comes next.
func (a *Agent) ReportDrift(
	ctx context.Context, r *agentv1.ReportDriftRequest,
) (*agentv1.ReportDriftResponse, error) {
	return reply(&agentv1.ReportDriftResponse{}, a.store.LiveStates.ReportDrift(auth.Piped(ctx), r))
}

// ReportLooks stores how looks at live states go, and answers the users who wait for them.
func (a *Agent) ReportLooks(
	ctx context.Context, r *agentv1.ReportLooksRequest,
) (*agentv1.ReportLooksResponse, error) {
	return reply(&agentv1.ReportLooksResponse{}, a.store.LiveStates.ReportLooks(auth.Piped(ctx), r.GetLooks()))
}

// ReportPlugins replaces what is known of the piped's plugin processes.
func (a *Agent) ReportPlugins(
	ctx context.Context, r *agentv1.ReportPluginsRequest,
) (*agentv1.ReportPluginsResponse, error) {
	return reply(&agentv1.ReportPluginsResponse{}, a.store.Pipeds.ReportPlugins(auth.Piped(ctx), r.GetPlugins()))
}

// breakpointsOf is what pipeds get of breakpoints.
func breakpointsOf(list []*deckv1.Breakpoint) *agentv1.Breakpoints {
	all := &agentv1.Breakpoints{}
	for _, b := range list {
		all.Breakpoints = append(all.Breakpoints, &agentv1.Breakpoint{
			When: agentv1.Breakpoint_When(b.GetWhen()), Application: b.GetApplication(), Stage: b.GetStage(),
		})
	}
	return all
}
