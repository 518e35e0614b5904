// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import "github.com/pipedeck/pipedeck/api/plugin/deployment"

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

// PlanningSources tells the same of the questions for versions and for a strategy.
func (p *Plugin) PlanningSources() deployment.SourceUse { return p.sourceUse().GetPlanning() }

func (p *Plugin) sourceUse() *deployment.GetSourceUseResponse {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sources
}
