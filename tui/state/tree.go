// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"maps"
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Tree is what lives of one application, by owner. The zero value is empty.
type Tree struct {
	resources map[string]*deckv1.Resource
	rows      []TreeRow
	// known: a whole report has come.
	known bool
}

// TreeRow is one line of the tree.
type TreeRow struct {
	*deckv1.Resource
	// Rails says for each level above whether more follows there; its length is the depth.
	Rails []bool
	// Last: nothing follows on its own level.
	Last bool
}

// Problem reports whether the resource is worth looking at: it is not healthy, not known, or not as in Git.
func (r TreeRow) Problem() bool {
	return r.GetDrift() != "" || r.GetHealth() != deckv1.HealthStatus_HEALTH_STATUS_HEALTHY
}

// Apply takes over one response; its objects belong to the tree from then on. The rows change when a report is
// complete.
func (t *Tree) Apply(response *deckv1.WatchResourcesResponse) {
	for _, r := range response.GetResources() {
		put(&t.resources, r.GetId(), r)
	}
	for _, id := range response.GetRemoved() {
		delete(t.resources, id)
	}
	if response.GetComplete() {
		t.known = true
		t.rows = t.build()
	}
}

// Known reports whether there was a report, perhaps an empty one.
func (t *Tree) Known() bool { return t.known }

// Rows are all resources, owners before what they own. They must not be changed.
func (t *Tree) Rows() []TreeRow { return t.rows }

// build orders the resources. Owners that are not there, or that own each other in a circle, count as none.
func (t *Tree) build() []TreeRow {
	below := map[string][]*deckv1.Resource{}
	all := slices.SortedFunc(maps.Values(t.resources), compareResources)
	var roots []*deckv1.Resource
	for _, r := range all {
		at := slices.IndexFunc(r.GetParentIds(), func(id string) bool { return t.resources[id] != nil })
		if at < 0 {
			roots = append(roots, r)
			continue
		}
		below[r.GetParentIds()[at]] = append(below[r.GetParentIds()[at]], r)
	}
	rows := make([]TreeRow, 0, len(all))
	placed := make(map[string]bool, len(all))
	var place func(level []*deckv1.Resource, rails []bool)
	place = func(level []*deckv1.Resource, rails []bool) {
		for i, r := range level {
			if placed[r.GetId()] {
				continue
			}
			placed[r.GetId()] = true
			last := i == len(level)-1
			rows = append(rows, TreeRow{Resource: r, Rails: rails, Last: last})
			if children := below[r.GetId()]; len(children) > 0 {
				place(children, append(slices.Clip(rails), !last))
			}
		}
	}
	place(roots, nil)
	for _, r := range all {
		if !placed[r.GetId()] { // a circle
			place([]*deckv1.Resource{r}, nil)
		}
	}
	return rows
}

func compareResources(a, b *deckv1.Resource) int {
	return cmp.Or(
		cmp.Compare(a.GetDeployTarget(), b.GetDeployTarget()), cmp.Compare(a.GetKind(), b.GetKind()),
		cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()),
		cmp.Compare(a.GetId(), b.GetId()),
	)
}
