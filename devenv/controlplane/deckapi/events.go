// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func (s *Server) timestamp() *timestamppb.Timestamp { return timestamppb.New(s.store.Now()) }

// event translates a change that is not one of a log.
func event(c store.Change) *deckv1.Event {
	e := &deckv1.Event{Time: timestamppb.New(c.Time)}
	switch {
	case c.Environment != nil:
		e.Kind = &deckv1.Event_Environment{Environment: c.Environment}
	case c.Component != nil:
		e.Kind = &deckv1.Event_Component{Component: c.Component}
	case c.Application != nil:
		e.Kind = &deckv1.Event_Application{Application: application(c.Application)}
	case c.Deployment != nil:
		e.Kind = &deckv1.Event_Deployment{Deployment: deployment(c.Deployment)}
	case c.Piped != nil:
		e.Kind = &deckv1.Event_Piped{Piped: piped(c.Piped)}
	case c.Plugin != nil:
		e.Kind = &deckv1.Event_Plugin{Plugin: plugin(c.PipedID, c.Plugin)}
	case c.Problem != nil:
		e.Kind = &deckv1.Event_Problem{Problem: c.Problem}
	case c.Caption != nil:
		e.Kind = &deckv1.Event_Caption{Caption: c.Caption}
	default:
		e.Kind = &deckv1.Event_Removed{Removed: &deckv1.Removed{
			ApplicationId: c.RemovedApplication, PluginName: c.RemovedPlugin, PipedId: c.PipedID,
			ProblemId: c.RemovedProblem,
		}}
	}
	return e
}

func piped(p *store.Piped) *deckv1.Piped {
	m := p.Model
	out := &deckv1.Piped{
		Id: m.GetId(), Name: m.GetName(), Description: m.GetDesc(), State: pipedStates[p.State],
		Version:    m.GetVersion(),
		LastSeenAt: stamp(p.LastSeen), Own: p.Own, DeploysCommits: p.DeploysCommits,
		Faults: faultsOf(m.GetId(), p.Faults), TakesFaults: p.TakesFaults,
	}
	if m.GetStartedAt() > 0 {
		out.StartedAt = timestamppb.New(time.Unix(m.GetStartedAt(), 0))
	}
	for _, r := range m.GetRepositories() {
		out.Repositories = append(out.Repositories, r.GetId())
	}
	for _, provider := range m.GetPlatformProviders() {
		out.PlatformProviders = append(out.PlatformProviders, provider.GetName()+" ("+provider.GetType()+")")
	}
	return out
}

func plugin(pipedID string, p *agentv1.Plugin) *deckv1.Plugin {
	return &deckv1.Plugin{
		PipedId: pipedID, Name: p.GetName(), State: pluginStates[p.GetState()], Detail: p.GetDetail(),
		Pid:       p.GetPid(),
		StartedAt: p.GetStartedAt(), Restarts: p.GetRestarts(), RssBytes: p.GetRssBytes(),
		CpuPercent: p.GetCpuPercent(),
		Stages:     p.GetStages(), LastOutput: p.GetLastOutput(), DeployTargets: p.GetDeployTargets(),
		OpenFiles: p.GetOpenFiles(), Threads: p.GetThreads(), Linked: p.GetLinked(),
		MemoryLimitBytes: p.GetMemoryLimitBytes(), CpuLimitCores: p.GetCpuLimitCores(), PidsLimit: p.GetPidsLimit(),
		Goroutines: p.GetGoroutines(), LastOutputAt: p.GetLastOutputAt(), OutputLines: p.GetOutputLines(),
		RestartedAt: p.GetRestartedAt(), Binary: p.GetBinary(), Version: p.GetVersion(),
		Build: build(p.GetBuild()), Reloads: p.GetReloads(), Crashes: p.GetCrashes(), Exits: exits(p.GetExits()),
		Attached: p.GetAttached(), Held: p.GetHeld(), PipedService: p.GetPipedService(),
		HeldAt: p.GetHeldAt(), TakesClusterFaults: p.GetTakesClusterFaults(), InjectedEnds: p.GetInjectedEnds(),
		AbandonedEnds: p.GetAbandonedEnds(),
	}
}

// PipeCD v1's blocks carry seconds, and its plugins hold them back for up to five. A block that
// was written about when it arrived gets the finer time of its arrival.
const freshFor = 2 * time.Second

func logBlock(deploymentID, stageID string, b store.LogBlock) *deckv1.LogBlock {
	written := time.Unix(b.Block.GetCreatedAt(), 0)
	if age := b.Received.Sub(written); age >= 0 && age < freshFor {
		written = b.Received
	}
	return &deckv1.LogBlock{
		DeploymentId: deploymentID, StageId: stageID, Index: b.Block.GetIndex(), Text: b.Block.GetLog(),
		Severity: severity(b.Block.GetSeverity()), Time: timestamppb.New(written),
	}
}

func severity(s model.LogSeverity) deckv1.Severity {
	switch s {
	case model.LogSeverity_SUCCESS:
		return deckv1.Severity_SEVERITY_SUCCESS
	case model.LogSeverity_ERROR:
		return deckv1.Severity_SEVERITY_ERROR
	}
	return deckv1.Severity_SEVERITY_INFO
}

// stamp returns nil for a time that was not reached.
func stamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}
