// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// compute is kstatus, which takes a ReplicationController for ready whatever its status says: that has the same fields
// as the status of a ReplicaSet.
func compute(live *unstructured.Unstructured) (*status.Result, error) {
	if live.GetKind() == kindReplicationController {
		live = live.DeepCopy()
		live.SetAPIVersion("apps/v1")
		live.SetKind(manifest.KindReplicaSet)
	}
	return status.Compute(live)
}

const kindReplicationController = "ReplicationController"

// describe says how far a workload is: "1 of 3 ready".
func describe(live *unstructured.Unstructured, result *status.Result) string {
	switch live.GetKind() {
	case manifest.KindDeployment, manifest.KindStatefulSet, manifest.KindDaemonSet:
	case manifest.KindReplicaSet, kindReplicationController:
		n := countsOf(live)
		return fmt.Sprintf("%d of %d ready", n.ready, n.wanted)
	default:
		return result.Message
	}
	switch n := countsOf(live); {
	case n.updated < n.wanted && n.all > n.updated, n.all > n.wanted:
		return fmt.Sprintf("%d of %d updated, %d ready, %d old", n.updated, n.wanted, n.ready, n.all-n.updated)
	default:
		return fmt.Sprintf("%d of %d ready", n.ready, n.wanted)
	}
}

// isObserved reports whether the status is about the present spec.
func isObserved(live *unstructured.Unstructured) bool {
	// Pods and Jobs do not say: what changes in them is not their specification.
	return live.GetKind() == "Pod" || live.GetKind() == kindJob ||
		number(live, 0, "status", "observedGeneration") >= live.GetGeneration()
}

func number(o *unstructured.Unstructured, missing int64, path ...string) int64 {
	n, found, err := unstructured.NestedInt64(o.Object, path...)
	if err != nil || !found {
		return missing
	}
	return n
}

// failure words what kstatus found.
func failure(result *status.Result) string {
	for _, c := range result.Conditions {
		if c.Type == status.ConditionStalled && c.Message != "" {
			return fmt.Sprintf("%s: %s", result.Message, c.Message)
		}
	}
	return result.Message
}

func podFailed(live *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(live.Object, "status", "phase")
	return live.GetKind() == "Pod" && phase == "Failed"
}

// podRuns reports whether a pod has not come to its end.
func podRuns(live *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(live.Object, "status", "phase")
	return live.GetKind() == "Pod" && phase != "Succeeded" && phase != "Failed"
}

func fromUnstructured(m map[string]any, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(m, into)
}

func texts(m map[string]any) map[string]string {
	t := make(map[string]string, len(m))
	for key, value := range m {
		t[key] = fmt.Sprint(value)
	}
	return t
}
