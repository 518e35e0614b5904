// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"maps"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
)

// reasons are the words for the reasons that the program gives.
var reasons = map[tfjson.ActionReason]string{
	tfjson.ActionReasonReplaceBecauseTainted:         "its creation had failed (tainted)",
	tfjson.ActionReasonReplaceByRequest:              "a flag asks for it (-replace)",
	tfjson.ActionReasonReplaceByTriggers:             "replace_triggered_by has changed",
	tfjson.ActionReasonDeleteBecauseNoResourceConfig: "it is not in the configuration",
	tfjson.ActionReasonDeleteBecauseWrongRepetition:  "count or for_each has changed its kind",
	tfjson.ActionReasonDeleteBecauseCountIndex:       "its index is above count",
	tfjson.ActionReasonDeleteBecauseEachKey:          "its key is not in for_each",
	tfjson.ActionReasonDeleteBecauseNoModule:         "its module is not in the configuration",
	tfjson.ActionReasonDeleteBecauseNoMoveTarget:     "it was moved to an address that is not in the configuration",
	tfjson.ActionReasonReplaceBecauseCannotUpdate:    "a field cannot be changed in place",
}

// Retried are the resources that are replaced because their creation, which the plan that was shown has, had failed.
func (s *Set) Retried(shown *Set) *Set {
	created := map[string]bool{}
	for _, r := range shown.Only(Create).Resources {
		created[r.Address] = true
	}
	retried := &Set{}
	for _, r := range s.Resources {
		if r.Action == Replace && created[r.Address] && r.Reason == reasons[tfjson.ActionReasonReplaceBecauseTainted] {
			retried.Resources = append(retried.Resources, r)
		}
	}
	return retried
}

// reasonOf says why a resource is replaced or destroyed, with the fields that force a replacement.
func reasonOf(r *tfjson.ResourceChange) string {
	if fields := forced(r.Change); len(fields) > 0 && r.Change.Actions.Replace() &&
		r.ActionReason != tfjson.ActionReasonReplaceBecauseTainted {
		return strings.Join(fields, ", ") + " cannot be changed in place"
	}
	return reasons[r.ActionReason]
}

// forced are the first steps of the paths of the fields that force a replacement.
func forced(c *tfjson.Change) []string {
	names := map[string]bool{}
	for _, raw := range c.ReplacePaths {
		steps, _ := raw.([]any)
		var parts []string
		for _, step := range steps {
			if key, is := step.(string); is {
				parts = append(parts, key)
			}
		}
		if len(parts) > 0 {
			names[strings.Join(parts, ".")] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
