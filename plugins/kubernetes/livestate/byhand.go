// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// computeByHand is kstatus, but that a DaemonSet is not unhealthy because its controller leaves pods of the old
// version.
func computeByHand(o *unstructured.Unstructured) (*status.Result, error) {
	if o.GroupVersionKind().GroupKind().String() == "DaemonSet.apps" && keeps(o) != "" {
		wanted, _, _ := unstructured.NestedInt64(o.Object, "status", "desiredNumberScheduled")
		o = o.DeepCopy()
		if err := unstructured.SetNestedField(o.Object, wanted, "status", "updatedNumberScheduled"); err != nil {
			return nil, err
		}
	}
	return status.Compute(o)
}

// keeps says how many pods of the old version the controller of a workload leaves, and until when; empty for none.
func keeps(o *unstructured.Unstructured) string {
	onDelete := text(o, "spec", "updateStrategy", "type") == "OnDelete"
	until := "until someone deletes them (updateStrategy: OnDelete)"
	var all, updated int64
	switch kind := o.GroupVersionKind().GroupKind().String(); {
	case kind == "DaemonSet.apps" && onDelete:
		all, _, _ = unstructured.NestedInt64(o.Object, "status", "desiredNumberScheduled")
		updated, _, _ = unstructured.NestedInt64(o.Object, "status", "updatedNumberScheduled")
	case kind == "StatefulSet.apps":
		partition, _, _ := unstructured.NestedInt64(o.Object, "spec", "updateStrategy", "rollingUpdate", "partition")
		observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
		// A pod that ends counts as one, but not as an updated one.
		complete := text(o, "status", "updateRevision") == text(o, "status", "currentRevision")
		if observed < o.GetGeneration() || !onDelete && (partition <= 0 || complete) {
			return ""
		}
		if !onDelete {
			until = fmt.Sprintf("until the partition is lowered (rollingUpdate.partition: %d)", partition)
		}
		all, _, _ = unstructured.NestedInt64(o.Object, "status", "replicas")
		updated, _, _ = unstructured.NestedInt64(o.Object, "status", "updatedReplicas")
	}
	if updated >= all {
		return ""
	}
	return fmt.Sprintf("%d of %d pods keep the old version %s", all-updated, all, until)
}

// paused says of a Deployment why its controller replaces no pod, and how it goes on; empty for others.
func paused(o *unstructured.Unstructured) string {
	if isPaused, _, _ := unstructured.NestedBool(o.Object, "spec", "paused"); !isPaused || o.GetKind() != "Deployment" {
		return ""
	}
	return "is paused (spec.paused), so no pod is replaced until spec.paused is removed from Git, or someone runs " +
		"kubectl rollout resume deployment/" + o.GetName()
}
