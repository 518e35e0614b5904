// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// MetadataDrift is where a plugin of ours says how a resource differs from Git.
const MetadataDrift = "Drift"

// ResourceCounts sums up the live resources of an application.
type ResourceCounts struct {
	Total, Unhealthy, Unknown, Drifted uint32
	// Worst says why the application is not healthy; empty when it is.
	Worst string
}

// count sums up resources. drifts are the fields that differ, by resource: also those that only Git has changed, of
// which the resource itself says nothing.
func count(resources []*model.ResourceState, drifts map[string]*livestate.ResourceDrift) (c ResourceCounts) {
	for _, r := range resources {
		c.Total++
		switch r.GetHealthStatus() {
		case model.ResourceState_UNHEALTHY:
			c.Unhealthy++
		case model.ResourceState_UNKNOWN:
			c.Unknown++
		}
		fields := drifts[r.GetId()]
		if r.GetResourceMetadata()[MetadataDrift] != "" || len(fields.GetFields()) > 0 || fields.GetMoreFields() > 0 {
			c.Drifted++
		}
	}
	c.Worst = worst(resources, c.Unhealthy+c.Unknown)
	return c
}

// maxWorst bounds what is said of the worst resource, in bytes. The last line of a container that crashes has room.
const maxWorst = 2 << 10

// worst names the resource that explains best why an application is not healthy, and counts the others: a resource that
// does not work before one that is not known, and what lies deepest in the tree, because it is the cause of what is
// above it.
func worst(resources []*model.ResourceState, bad uint32) string {
	if bad == 0 {
		return ""
	}
	byID := make(map[string]*model.ResourceState, len(resources))
	for _, r := range resources {
		byID[r.GetId()] = r
	}
	var found *model.ResourceState
	best := -1
	for _, r := range resources {
		rank := depth(r, byID)
		switch r.GetHealthStatus() {
		case model.ResourceState_HEALTHY:
			continue
		case model.ResourceState_UNHEALTHY:
			rank += maxDepth + 1
		}
		if r.GetHealthDescription() == "" {
			rank = 0
		}
		if rank > best {
			found, best = r, rank
		}
	}
	name := found.GetName()
	if namespace := found.GetResourceMetadata()["Namespace"]; namespace != "" {
		name = namespace + "/" + name
	}
	text := found.GetResourceType() + " " + name + " " + cmp.Or(found.GetHealthDescription(), "is not healthy")
	if found.GetHealthDescription() != "" && !strings.HasPrefix(found.GetHealthDescription(), "is ") {
		text = found.GetResourceType() + " " + name + ": " + found.GetHealthDescription()
	}
	if len(text) > maxWorst {
		text = strings.ToValidUTF8(text[:maxWorst], "") + "…"
	}
	if bad > 1 {
		text += fmt.Sprintf(" (and %d more)", bad-1)
	}
	return text
}

// maxDepth bounds the way up in a tree of resources, which a plugin may have made a circle.
const maxDepth = 8

func depth(r *model.ResourceState, byID map[string]*model.ResourceState) (n int) {
	for r != nil && len(r.GetParentIds()) > 0 && n < maxDepth {
		r = byID[r.GetParentIds()[0]]
		n++
	}
	return n
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
