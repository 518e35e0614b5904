// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package change

import tfjson "github.com/hashicorp/terraform-json"

// drifted are the fields that have changed since they were applied, by the addresses of resources and paths. Other
// fields of a plan differ for one of several reasons: what the configuration reads has changed, or the state.
type drifted map[string]map[string]Field

func driftedOf(plan *tfjson.Plan, secret values) drifted {
	found := drifted{}
	for _, r := range plan.ResourceDrift {
		if r.Change == nil || r.DeposedKey != "" {
			continue
		}
		fields, _ := fieldsOf(r.Change, secret)
		byPath := map[string]Field{}
		for _, f := range fields {
			byPath[f.Path] = f
		}
		found[r.Address] = byPath
	}
	return found
}

// put adds what was applied last to the fields of a resource. Values that are hidden cannot be compared.
func (d drifted) put(r *Resource) {
	for i := range r.Fields {
		f := &r.Fields[i]
		if was, is := d[r.Address][f.Path]; is && !f.Secret && !was.Secret && was.After == f.Before {
			f.Applied = was.Before
		}
	}
}
