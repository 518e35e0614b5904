// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// holdsUp turns a problem of a pod of the old version into one of the rollout: the controller of a StatefulSet replaces
// its pods in their order and none before all are ready, so that a broken version stays until someone deletes its pods.
// (Kubernetes: forced rollback.) It never ends a rollout early, because the pod may become ready. ok is false where the
// problem is none of the rollout, or the pod is deleted for it.
func (d *discarding) holdsUp(live, pod *unstructured.Unstructured, p problem) (held problem, ok bool) {
	if !isOrdered(live) || p.class == classHint {
		return problem{}, false
	}
	if deleted, tried := d.discarded[pod.GetUID()]; deleted || !tried && d.discards(live, pod) {
		return problem{}, false
	}
	return problem{
		class: classHint, pod: p.pod, namespace: p.namespace, container: "old/" + p.container,
		text: fmt.Sprintf("pod %s of the old version holds the rollout up, because no pod is replaced before it is "+
			"ready (podManagementPolicy: OrderedReady): %s; to have it replaced: kubectl delete pod %[1]s -n %[3]s",
			p.pod, strings.TrimPrefix(p.text, "pod "+p.pod+": "), live.GetNamespace()),
	}, true
}

// isOrdered reports whether a workload is a StatefulSet whose pods are replaced one after the other.
func isOrdered(live *unstructured.Unstructured) bool {
	policy, _, _ := unstructured.NestedString(live.Object, "spec", "podManagementPolicy")
	return live.GetKind() == manifest.KindStatefulSet && policy != "Parallel"
}

// discarding is what is deleted in a rollback.
type discarding struct {
	discard *Discard
	// discarded are the pods of which that was tried, and whether it went well.
	discarded map[types.UID]bool
}

// discardHolding deletes the pods of the failed version that are not ready: their controller replaces no pod before
// they are, so that a rollback would not end. They have not served, and their volumes stay.
func (t *tracker) discardHolding(ctx context.Context) {
	for _, u := range t.pods {
		if _, tried := t.discarded[u.GetUID()]; tried || !t.discards(t.workload.Live, u) {
			continue
		}
		if t.discarded == nil {
			t.discarded = map[types.UID]bool{}
		}
		err := t.discard.Delete(ctx, u)
		t.discarded[u.GetUID()] = err == nil
		if err != nil {
			t.log.Infof("%s: cannot delete pod %s of the failed version, which holds the rollback up: %v", t.name(),
				u.GetName(), err)
			continue
		}
		t.log.Infof("%s: pod %s of the failed version is deleted, because its controller replaces no pod before it is "+
			"ready", t.name(), u.GetName())
	}
}

// discards reports whether a pod is one of a failed version that a rollback deletes, or has just deleted. What the
// controller creates from now on is of the version that is applied, or below a partition of the one that was complete
// before: these are never deleted.
func (d *discarding) discards(live, u *unstructured.Unstructured) bool {
	if u == nil || d.discard == nil || !isOrdered(live) || !isObserved(live) {
		return false
	}
	strategy, _, _ := unstructured.NestedString(live.Object, "spec", "updateStrategy", "type")
	update, _, _ := unstructured.NestedString(live.Object, "status", "updateRevision")
	current, _, _ := unstructured.NestedString(live.Object, "status", "currentRevision")
	var pod corev1.Pod
	switch of := u.GetLabels()[labelControllerHash]; {
	case strategy == "OnDelete", of == "", update == "", of == update, of == current:
		return false
	case fromUnstructured(u.Object, &pod) != nil, pod.DeletionTimestamp != nil, isPodReady(&pod):
		return false
	}
	return !pod.CreationTimestamp.Time.Before(d.discard.Since)
}

func isPodReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
