// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// removesItself reports whether a Job is gone from the cluster once it has ended. The deployment has waited for its
// end.
func removesItself(m manifest.Manifest) bool {
	_, found, _ := unstructured.NestedFieldNoCopy(m.Object, "spec", "ttlSecondsAfterFinished")
	suspended, _, _ := unstructured.NestedBool(m.Object, "spec", "suspend")
	return found && !suspended && m.GroupVersionKind().GroupKind().String() == "Job.batch"
}

// collected returns the Jobs of Git that have removed themselves, so that the tree says where they are.
func collected(places []place, objects []*object, found []finding, target string) (states []*sdk.ResourceState) {
	known := map[manifest.Key]bool{}
	for _, o := range objects {
		known[manifest.KeyOf(o.live).Fold()] = true
	}
	for _, f := range found {
		known[f.key.Fold()] = true
	}
	for _, p := range places {
		key := p.manifest.Key()
		if known[key.Fold()] || !p.known || !removesItself(p.manifest) || manifest.IsHook(p.manifest) {
			continue
		}
		seconds, _, _ := unstructured.NestedFieldNoCopy(p.manifest.Object, "spec", "ttlSecondsAfterFinished")
		states = append(states, &sdk.ResourceState{
			ID: missingID(target, key), Name: key.Name, Type: key.Kind, DeployTarget: target,
			Metadata: metadataOf(p.manifest.Unstructured), Health: sdk.Healthy,
			HealthDescription: fmt.Sprintf("has ended, and was removed %v s later (ttlSecondsAfterFinished)", seconds),
		})
	}
	return states
}
