// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
)

// occasions are the moments of a deployment that succeeds, in words.
var occasions = []struct {
	moment phase.Moment
	words  string
}{
	{phase.Before, "before the rollout"}, {phase.Sync, "in the rollout"}, {phase.After, "after the rollout"},
}

// dueHooks are the hooks that would run in a deployment that succeeds.
func dueHooks(plan phase.Plan) []manifest.Manifest {
	var due []manifest.Manifest
	seen := map[manifest.Key]bool{}
	for _, o := range occasions {
		for _, m := range plan.Hooks(o.moment) {
			if !seen[m.Key()] {
				seen[m.Key()] = true
				due = append(due, m)
			}
		}
	}
	return due
}

// hooksOf notes the hooks of a commit, in the order in which they would run, and those that would not.
func (c *changes) hooksOf(plan phase.Plan) {
	for _, o := range occasions {
		sorted, err := phase.Sort(plan.Hooks(o.moment))
		if err != nil {
			continue // the annotations were read when the commit was loaded
		}
		for _, m := range sorted {
			c.hooks++
			c.notes = append(c.notes, fmt.Sprintf("%s would run %s", phase.Describe(m), o.words))
		}
	}
	for _, m := range plan.Idle {
		why := "this deployment is " + string(plan.Occasion)
		if phase.Never(m) {
			why = "such a hook never runs"
		}
		c.notes = append(c.notes, fmt.Sprintf("%s would not run: %s", phase.Describe(m), why))
	}
	for _, m := range plan.All() {
		c.unapplied = append(c.unapplied, m.Key())
	}
}

// hook shows a hook next to the one that ran before, if that is still there. It counts for no change: a hook is no part
// of what runs.
func (c *changes) hook(t apply.Trial) {
	note := "# a hook: it would be created to run"
	before := t.Live
	if before != nil {
		note = "# a hook: it would be applied again"
	}
	if before != nil && t.Recreate {
		note = "# a hook: it would be deleted and created again to run"
		before = before.DeepCopy()
		before.Object, _ = within(t.Live.Object, t.After.Object).(map[string]any)
	}
	c.put(t.Manifest.Key(), "hook", note, before, afterOf(t))
}

// afterOf is what would be there; the manifest where the API was not asked.
func afterOf(t apply.Trial) *unstructured.Unstructured {
	if t.After != nil {
		return t.After
	}
	return t.Manifest.Unstructured
}
