// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// computeByHand is kstatus, but that a DaemonSet is not unhealthy because its pods are replaced only after someone has
// deleted them. kept says of such a DaemonSet how many pods are old; empty for none.
func computeByHand(o *unstructured.Unstructured) (result *status.Result, kept string, err error) {
	if o.GroupVersionKind().GroupKind().String() != "DaemonSet.apps" ||
		text(o, "spec", "updateStrategy", "type") != "OnDelete" {
		result, err = status.Compute(o)
		return result, "", err
	}
	wanted, _, _ := unstructured.NestedInt64(o.Object, "status", "desiredNumberScheduled")
	updated, _, _ := unstructured.NestedInt64(o.Object, "status", "updatedNumberScheduled")
	if updated < wanted {
		kept = fmt.Sprintf("%d of %d pods keep the old version until someone deletes them (updateStrategy: OnDelete)",
			wanted-updated, wanted)
		o = o.DeepCopy()
		if err := unstructured.SetNestedField(o.Object, wanted, "status", "updatedNumberScheduled"); err != nil {
			return nil, "", err
		}
	}
	result, err = status.Compute(o)
	return result, kept, err
}

// paused says of a Deployment why its controller replaces no pod, and how it goes on; empty for others.
func paused(o *unstructured.Unstructured) string {
	if isPaused, _, _ := unstructured.NestedBool(o.Object, "spec", "paused"); !isPaused || o.GetKind() != "Deployment" {
		return ""
	}
	return "is paused (spec.paused), so no pod is replaced until spec.paused is removed from Git, or someone runs " +
		"kubectl rollout resume deployment/" + o.GetName()
}
