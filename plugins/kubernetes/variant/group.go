// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"reflect"
	"slices"
)

// group are those backends of the routed Service that differ in nothing but the variant and the weight: a route may
// have several groups, such as two ports.
type group struct {
	// own is the first of them.
	own    map[string]any
	weight int64
}

// groups puts backends together. One of the primary begins a group unless there is one that it belongs to; one of
// another variant that belongs to none is replaced by the first. form is a backend without what variants change.
type groups struct {
	of        []group
	isPrimary func(map[string]any) bool
	form      func(map[string]any) map[string]any
}

// add adds the backends of the Service with their weights. There is at least one.
func (g *groups) add(backends []map[string]any, weights []int64) {
	for _, primary := range []bool{true, false} {
		for i, backend := range backends {
			if g.isPrimary(backend) == primary {
				g.addOne(backend, weights[i], primary || len(g.of) == 0)
			}
		}
	}
}

func (g *groups) addOne(backend map[string]any, weight int64, begins bool) {
	form := g.form(backend)
	at := slices.IndexFunc(g.of, func(other group) bool { return reflect.DeepEqual(g.form(other.own), form) })
	switch {
	case at >= 0:
	case begins:
		at, g.of = len(g.of), append(g.of, group{own: backend})
	default:
		at = 0
	}
	g.of[at].weight += weight
}

// parts are the parts of the groups, as small as they can be: 1 for a group that is alone.
func (g *groups) parts() []int64 {
	if len(g.of) == 1 {
		return []int64{1}
	}
	parts := make([]int64, len(g.of))
	for i, each := range g.of {
		parts[i] = each.weight
	}
	reduce(parts)
	return parts
}

// shareOut shares out a whole number by the parts; the first gets what rounding leaves.
func shareOut(total int64, parts []int64) []int64 {
	sum, left := int64(0), total
	for _, part := range parts {
		sum += part
	}
	shares := make([]int64, len(parts))
	for i, part := range parts {
		shares[i] = total * part / max(sum, 1)
		left -= shares[i]
	}
	shares[0] += left
	return shares
}
