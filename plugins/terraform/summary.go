// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/terraform/change"
)

// summaries are what plans change, by deploy target.
type summaries map[string]*change.Set

func (s summaries) add(target string, set *change.Set) { s[target] = set }

// empty is whether nothing changes anywhere.
func (s summaries) empty() bool {
	for _, set := range s {
		if !set.Empty() {
			return false
		}
	}
	return true
}

// String is one line for all deploy targets.
func (s summaries) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if len(s) == 1 {
			return s[name].Summary()
		}
		parts = append(parts, name+": "+s[name].Summary())
	}
	return strings.Join(parts, "; ")
}
