// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// maxShortReasons bounds the deploy targets that the short reason reports.
const maxShortReasons = 3

// merge puts the answers of deploy targets together; each resource says where it is.
func merge(answers []answer) *sdk.Livestate {
	all := &sdk.Livestate{Sync: &sdk.SyncState{Status: sdk.Synced,
		At: time.Now()}}
	for _, a := range answers {
		all.Resources = append(all.Resources, a.resources...)
	}
	var short, long []string
	for _, a := range answers {
		if urgency(a.sync) > urgency(*all.Sync) {
			all.Sync.Status = a.sync.Status
		}
		if a.sync.Reason != "" {
			long = append(long, a.sync.Reason)
		}
		reason := a.sync.ShortReason
		switch {
		case reason == "":
		case len(answers) == 1:
			short = append(short, reason)
		default:
			short = append(short, a.target+": "+reason)
		}
	}
	if more := len(short) - maxShortReasons; more > 0 {
		short = append(short[:maxShortReasons], fmt.Sprintf("and %d more deploy targets", more))
	}
	if idle := idleRules(answers); len(idle) > 0 {
		long = append(long, strings.Join(idle, "\n"))
		if len(short) == 0 {
			short = idle[:1]
		}
	}
	all.Sync.ShortReason, all.Sync.Reason = strings.Join(short, "; "), strings.Join(long, "\n\n")
	return all
}

// idleRules words the rules of ignoreFields that ignore nothing at any deploy target; none while a target is away.
func idleRules(answers []answer) (idle []string) {
	for rule, why := range answers[0].idle {
		if !slices.ContainsFunc(answers, func(a answer) bool { return a.idle[rule] == "" }) {
			idle = append(idle, rule+" ignores nothing: "+shorten(why))
		}
	}
	slices.Sort(idle)
	return idle
}

// setApart gives the resources of a target other ids when it has the same cluster as a former one: ids are unique.
func setApart(answers []answer) {
	seen := map[string]bool{}
	for i := range answers {
		answers[i].setApart(seen)
		for _, r := range answers[i].resources {
			seen[r.ID] = true
		}
	}
}

func (a *answer) setApart(seen map[string]bool) {
	if !slices.ContainsFunc(a.resources, func(r *sdk.ResourceState) bool { return seen[r.ID] }) {
		return
	}
	a.before = a.target + "/"
	for _, r := range a.resources {
		r.ID = a.before + r.ID
		for i, parent := range r.ParentIDs {
			r.ParentIDs[i] = a.before + parent
		}
	}
}

// urgency orders sync states as PipeCD v1 does.
func urgency(s sdk.SyncState) int {
	switch s.Status {
	case sdk.OutOfSync:
		return 2
	case sdk.Synced:
		return 0
	}
	return 1
}

// unknown is the answer for a deploy target that could not be asked.
func (a answer) unknown(want *wanted) answer {
	a.sync = sdk.SyncState{
		Status:      sdk.SyncUnknown,
		ShortReason: shorten(a.err.Error()),
		Reason:      fmt.Sprintf("The live state at %s is not known: %v", a.target, a.err),
	}
	for _, m := range want.manifests {
		a.resources = append(a.resources, &sdk.ResourceState{
			ID: a.target + "/" + m.Key().String(), Name: m.GetName(), Type: m.GetKind(),
			Metadata: metadataOf(m.Unstructured),
			Health:   sdk.HealthUnknown, HealthDescription: "its cluster could not be asked",
			DeployTarget: a.target,
		})
	}
	a.err = nil
	return a
}

// metadataOf has the keys of PipeCD v1.
func metadataOf(o *unstructured.Unstructured) map[string]string {
	metadata := map[string]string{"Namespace": o.GetNamespace(), "API Version": cmp.Or(o.GetAPIVersion(), "v1"),
		"Kind": o.GetKind()}
	if hook := phase.HookOf(o); hook != "" {
		metadata["Hook"] = hook
	}
	return metadata
}
