// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	// annotationRevision is on a Deployment and on its ReplicaSets; the newest ReplicaSet has the Deployment's.
	annotationRevision = "deployment.kubernetes.io/revision"
	// annotationGeneration and labelGeneration mark the pods of a DaemonSet's newest template.
	annotationGeneration = "deprecated.daemonset.template.generation"
	labelGeneration      = "pod-template-generation"
	labelTemplateHash    = "pod-template-hash"
	labelControllerHash  = "controller-revision-hash"
)

var replicaSetResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}

// revision recognises the pods of a workload's newest template.
type revision struct {
	// label and value are what those pods have; an empty label recognises all pods.
	label, value string
	// none: the newest template has no pods yet.
	none bool
	// failure is why the API does not take its pods; empty when it does.
	failure string
}

func (r revision) owns(pod *unstructured.Unstructured) bool {
	if r.none || pod == nil {
		return false
	}
	return r.label == "" || pod.GetLabels()[r.label] == r.value
}

// newRevision finds the newest revision. It is asked only when a pod is in trouble.
func (t *tracker) newRevision(ctx context.Context) (revision, error) {
	live := t.workload.Live
	if !isObserved(live) {
		return revision{none: true}, nil // all pods there are belong to an older template
	}
	switch live.GetKind() {
	case manifest.KindDeployment:
		return t.newestReplicaSet(ctx, live)
	case manifest.KindReplicaSet, kindReplicationController:
		return revision{failure: replicaFailure(live)}, nil
	case manifest.KindStatefulSet:
		hash, _, _ := unstructured.NestedString(live.Object, "status", "updateRevision")
		return revision{label: labelControllerHash, value: hash}, nil
	case manifest.KindDaemonSet:
		if generation := live.GetAnnotations()[annotationGeneration]; generation != "" {
			return revision{label: labelGeneration, value: generation}, nil
		}
	}
	return revision{}, nil
}

func (t *tracker) newestReplicaSet(ctx context.Context, live *unstructured.Unstructured) (revision, error) {
	opts, ok := listOptions(live)
	if !ok {
		return revision{}, nil
	}
	sets, err := t.cluster.Resource(replicaSetResource, live.GetNamespace()).List(ctx, opts)
	if err != nil {
		return revision{}, err
	}
	for i := range sets.Items {
		set := &sets.Items[i]
		owner := metav1.GetControllerOf(set)
		if owner == nil || owner.UID != live.GetUID() ||
			set.GetAnnotations()[annotationRevision] != live.GetAnnotations()[annotationRevision] {
			continue
		}
		// With the strategy Recreate, the old ReplicaSet has the Deployment's revision until its pods are gone.
		if isOfTemplate(set, live) {
			return revision{label: labelTemplateHash, value: set.GetLabels()[labelTemplateHash],
				failure: replicaFailure(set)}, nil
		}
	}
	return revision{none: true}, nil
}

// isOfTemplate reports whether a ReplicaSet makes pods of a Deployment's template, by the controller's own rule.
func isOfTemplate(set, deployment *unstructured.Unstructured) bool {
	of, _, _ := unstructured.NestedMap(set.Object, "spec", "template")
	wanted, _, _ := unstructured.NestedMap(deployment.Object, "spec", "template")
	for _, template := range []map[string]any{of, wanted} {
		unstructured.RemoveNestedField(template, "metadata", "labels", labelTemplateHash)
	}
	return equality.Semantic.DeepEqual(of, wanted)
}
