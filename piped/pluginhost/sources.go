// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"slices"

	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// abilities are what a plugin process says about itself at its start.
type abilities struct {
	stages []string
	// sources is nil when it does not say: it reads all of them.
	sources *deployment.GetSourceUseResponse
	// schema is the JSON Schema of its options; empty when it ships none.
	schema []byte
	// version is what its author calls it; empty when it does not say.
	version string
}

// StageSources returns which sources the plugin of a stage reads: all of them, unless it says something else.
func (h *Host) StageSources(stage string) deployment.SourceUse {
	if owners := h.owners(stage); len(owners) == 1 {
		return owners[0].condition.sourceUse().GetStages()[stage]
	}
	return deployment.SourceUse_SOURCE_USE_UNSPECIFIED
}

func (a abilities) reentrant(stage string) bool { return !slices.Contains(a.sources.GetOnce(), stage) }

// Prepared makes a call for a stage conditional: the process that gets it reads no more than these sources.
// A process that has replaced the one asked before may read others; the call then fails with a
// SourcesChangedError and was not made.
func Prepared(stage string, use deployment.SourceUse) grpc.CallOption {
	return prepared{stage: stage, use: use}
}

type prepared struct {
	grpc.EmptyCallOption
	stage string
	use   deployment.SourceUse
}

// enough is nil when a process that reads these sources finds all of them.
func enough(plugin string, sources *deployment.GetSourceUseResponse, opts []grpc.CallOption) error {
	for _, option := range opts {
		// The values are in order, the most first.
		if p, ok := option.(prepared); ok && p.use > sources.GetStages()[p.stage] {
			return &SourcesChangedError{Plugin: plugin, Stage: p.stage}
		}
	}
	return nil
}
