// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"slices"

	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// abilities are what a plugin process tells about itself at its start.
type abilities struct {
	stages []string
	// sources is nil when it has not told: it looks into all of them.
	sources *deployment.GetSourceUseResponse
}

// StageSources tells into which sources the plugin of a stage looks: all of them, unless it says something else.
func (h *Host) StageSources(stage string) deployment.SourceUse {
	if owners := h.owners(stage); len(owners) == 1 {
		return owners[0].sourceUse().GetStages()[stage]
	}
	return deployment.SourceUse_SOURCE_USE_UNSPECIFIED
}

// Reentrant tells whether a stage of the plugin may be executed again when its process has ended during it.
func (p *Plugin) Reentrant(stage string) bool {
	return !slices.Contains(p.sourceUse().GetOnce(), stage)
}

// Prepared makes a call for a stage conditional: the process that gets it looks into no more than these sources.
// One that has replaced the process asked before may look into others; the call then fails with a
// SourcesChangedError and was not made.
func Prepared(stage string, use deployment.SourceUse) grpc.CallOption {
	return prepared{stage: stage, use: use}
}

type prepared struct {
	grpc.EmptyCallOption
	stage string
	use   deployment.SourceUse
}

// enough is nil when a process that tells this of itself finds all that it looks into.
func enough(plugin string, sources *deployment.GetSourceUseResponse, opts []grpc.CallOption) error {
	for _, option := range opts {
		// The values are in order, the most first.
		if p, ok := option.(prepared); ok && p.use > sources.GetStages()[p.stage] {
			return &SourcesChangedError{Plugin: plugin, Stage: p.stage}
		}
	}
	return nil
}

// PlanningSources tells the same of the questions for versions and for a strategy.
func (p *Plugin) PlanningSources() deployment.SourceUse { return p.sourceUse().GetPlanning() }

func (p *Plugin) sourceUse() *deployment.GetSourceUseResponse {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sources
}
