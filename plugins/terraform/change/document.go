// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"encoding/json"
	"slices"
)

// Document is a set as data for user interfaces: what is destroyed comes first, and the size is bounded. It holds no
// sensitive value, as a Set holds none.
type Document struct {
	// Name is that of the deploy target.
	Name string `json:"name"`
	// Counts has all resources by their actions, also those that are left out below.
	Counts    map[Action]int `json:"counts,omitempty"`
	Resources []Resource     `json:"resources,omitempty"`
	// MoreResources and MoreOutputs count what was left out.
	MoreResources int      `json:"moreResources,omitempty"`
	Outputs       []Output `json:"outputs,omitempty"`
	MoreOutputs   int      `json:"moreOutputs,omitempty"`
}

// order is how much a user has to see an action.
var order = []Action{Destroy, Replace, Update, Create, Forget, Import, Move}

// ordered are the resources, those first that a user has to see.
func (s *Set) ordered() []Resource {
	sorted := slices.Clone(s.Resources)
	slices.SortStableFunc(sorted, func(a, b Resource) int {
		return slices.Index(order, a.Action) - slices.Index(order, b.Action)
	})
	return sorted
}

// Document returns the set as data that takes about size bytes of JSON at most. Where not all fits, fields are left out
// first, then outputs, then resources, the last ones first.
func (s *Set) Document(name string, size int) Document {
	doc := Document{Name: name, Counts: map[Action]int{}}
	left := size
	for _, r := range s.ordered() {
		doc.Counts[r.Action]++
		left -= sizeOf(bare(r))
		if left < 0 {
			doc.MoreResources++
			continue
		}
		doc.Resources = append(doc.Resources, r)
	}
	for _, o := range s.Outputs {
		left -= sizeOf(o)
		if left < 0 {
			doc.MoreOutputs++
			continue
		}
		doc.Outputs = append(doc.Outputs, o)
	}
	left = max(left, 0)
	for i, r := range doc.Resources {
		if len(r.Fields) == 0 {
			continue
		}
		if left -= sizeOf(r.Fields); left < 0 {
			doc.Resources[i], left = bare(r), 0
		}
	}
	return doc
}

// bare is a resource without its fields.
func bare(r Resource) Resource {
	r.MoreFields += len(r.Fields)
	r.Fields = nil
	return r
}

func sizeOf(value any) int {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts and numbers
	}
	return len(data) + 1
}
