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

// metadataNote is where a plugin of ours says what a user has to know of a healthy resource.
const metadataNote = "Note"

// ResourceCounts sums up the live resources of an application.
type ResourceCounts struct {
	Total, Unhealthy, Unknown, Drifted uint32
	// Worst says why the application is not healthy, or what a user has to know of one that is; empty for neither.
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
	if bad := c.Unhealthy + c.Unknown; bad > 0 {
		c.Worst = worst(resources, bad)
	} else {
		c.Worst = noted(resources)
	}
	return c
}

// noted names the first healthy resource with a note, and counts the others; empty for none.
func noted(resources []*model.ResourceState) string {
	var found *model.ResourceState
	more := uint32(0)
	for _, r := range resources {
		switch {
		case r.GetResourceMetadata()[metadataNote] == "":
		case found == nil:
			found = r
		default:
			more++
		}
	}
	if found == nil {
		return ""
	}
	return about(found, found.GetResourceMetadata()[metadataNote], more)
}

// maxWorst bounds what is said of the worst resource, in bytes. The last line of a container that crashes has room.
const maxWorst = 2 << 10

// worst names the resource that explains best why an application is not healthy, and counts the others: a resource that
// does not work before one that is not known, and what lies deepest in the tree, because it is the cause of what is
// above it.
func worst(resources []*model.ResourceState, bad uint32) string {
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
	return about(found, found.GetHealthDescription(), bad-1)
}

// about is a sentence about a resource, and how many more there are.
func about(r *model.ResourceState, says string, more uint32) string {
	name := r.GetName()
	if namespace := r.GetResourceMetadata()["Namespace"]; namespace != "" {
		name = namespace + "/" + name
	}
	text := r.GetResourceType() + " " + name + " " + cmp.Or(says, "is not healthy")
	if says != "" && !strings.HasPrefix(says, "is ") {
		text = r.GetResourceType() + " " + name + ": " + says
	}
	if len(text) > maxWorst {
		text = strings.ToValidUTF8(text[:maxWorst], "") + "…"
	}
	if more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
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
