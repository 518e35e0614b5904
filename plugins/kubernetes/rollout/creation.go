// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// conditionReplicaFailure is on a ReplicaSet whose pods the API does not take, and on its Deployment.
	conditionReplicaFailure = "ReplicaFailure"
	// quotaWords are in the API's refusal for want of quota. Room may come while old pods end, so that it alone never
	// ends a rollout early.
	quotaWords = "exceeded quota"
)

// failedCreation returns the problem of a workload whose pods the API does not take. Which revision that is about, and
// the text, are found when the newest one is known.
func failedCreation(live *unstructured.Unstructured) []problem {
	if replicaFailure(live) == "" {
		return nil
	}
	return []problem{{class: classCreate, namespace: live.GetNamespace()}}
}

// replicaFailure is what the condition ReplicaFailure says; empty without one.
func replicaFailure(o *unstructured.Unstructured) string {
	if message, failed := condition(o, conditionReplicaFailure); failed {
		return "its pods are refused by the API: " + message
	}
	return ""
}
