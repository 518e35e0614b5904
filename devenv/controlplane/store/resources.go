// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "github.com/pipedeck/pipedeck/api/model"

// MetadataDrift is where a plugin of ours says how a resource differs from Git.
const MetadataDrift = "Drift"

// ResourceCounts sums up the live resources of an application.
type ResourceCounts struct{ Total, Unhealthy, Unknown, Drifted uint32 }

func count(resources []*model.ResourceState) (c ResourceCounts) {
	for _, r := range resources {
		c.Total++
		switch r.GetHealthStatus() {
		case model.ResourceState_UNHEALTHY:
			c.Unhealthy++
		case model.ResourceState_UNKNOWN:
			c.Unknown++
		}
		if r.GetResourceMetadata()[MetadataDrift] != "" {
			c.Drifted++
		}
	}
	return c
}

// health sums a live state up. PipeCD v1: the state's own verdict; a resource that is not healthy
// shows through even where a piped only says "unknown".
func health(live *model.ApplicationLiveStateSnapshot) model.ApplicationLiveState_Status {
	state := live.GetApplicationLiveState()
	if h := state.GetHealthStatus(); h != model.ApplicationLiveState_UNKNOWN {
		return h
	}
	for _, r := range state.GetResources() {
		if r.GetHealthStatus() == model.ResourceState_UNHEALTHY {
			return model.ApplicationLiveState_OTHER
		}
	}
	switch live.GetHealthStatus() {
	case model.ApplicationLiveStateSnapshot_HEALTHY:
		return model.ApplicationLiveState_HEALTHY
	case model.ApplicationLiveStateSnapshot_OTHER, model.ApplicationLiveStateSnapshot_UNHEALTHY:
		return model.ApplicationLiveState_OTHER
	default:
		return model.ApplicationLiveState_UNKNOWN
	}
}
