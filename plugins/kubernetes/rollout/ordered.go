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

// holdsUp turns a problem of a pod of another version into one of the rollout: the controller of a StatefulSet replaces
// its pods in their order and none before all are ready, so that a broken version stays until someone deletes its pods.
// (Kubernetes: forced rollback.) It never ends a rollout early, because the pod may become ready. ok is false where the
// problem is none of the rollout, or the pod is deleted for it.
func (d *discarding) holdsUp(live, pod *unstructured.Unstructured, p problem) (held problem, ok bool) {
	byHand := isByHand(live)
	if byHand && !d.isFailed(live, pod) || !byHand && !isOrdered(live) || p.class == classHint {
		return problem{}, false
	}
	if deleted, tried := d.discarded[pod.GetUID()]; deleted || !tried && d.discards(live, pod) {
		return problem{}, false
	}
	version, why := "old", "because no pod is replaced before it is ready (podManagementPolicy: OrderedReady)"
	if d.isFailed(live, pod) {
		version = "failed"
	}
	if byHand {
		why = "because its controller replaces no pod (updateStrategy: OnDelete)"
	}
	return problem{
		class: classHint, pod: p.pod, namespace: p.namespace, container: "old/" + p.container,
		text: fmt.Sprintf("pod %s of the %s version holds the rollout up, %s: %s; to have it replaced: kubectl delete "+
			"pod %[1]s -n %[5]s", p.pod, version, why, strings.TrimPrefix(p.text, "pod "+p.pod+": "),
			live.GetNamespace()),
	}, true
}

// isOrdered reports whether a workload is a StatefulSet whose pods are replaced one after the other.
func isOrdered(live *unstructured.Unstructured) bool {
	policy, _, _ := unstructured.NestedString(live.Object, "spec", "podManagementPolicy")
	return live.GetKind() == manifest.KindStatefulSet && policy != "Parallel"
}

// isByHand reports whether the controller of a workload only creates pods, and replaces none.
func isByHand(live *unstructured.Unstructured) bool {
	strategy, _, _ := unstructured.NestedString(live.Object, "spec", "updateStrategy", "type")
	return (live.GetKind() == manifest.KindStatefulSet || live.GetKind() == manifest.KindDaemonSet) &&
		strategy == "OnDelete"
}

// discarding is what is deleted in a rollback.
type discarding struct {
	discard *Discard
	// discarded are the pods of which that was tried, and whether it went well.
	discarded map[types.UID]bool
}

// discardHolding deletes the pods of the failed version that are not ready: their controller replaces no pod before
// they are, or none at all, so that a rollback would not end, or leave them. They do not serve, and their volumes stay.
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
			t.inspect(ctx) // it is a problem from now on
			continue
		}
		why := "before it is ready"
		if isByHand(t.workload.Live) {
			why = "(updateStrategy: OnDelete)"
		}
		t.log.Infof("%s: pod %s of the failed version is deleted, because its controller replaces no pod %s", t.name(),
			u.GetName(), why)
	}
}

// discards reports whether a pod is one of a failed version that a rollback deletes, or has just deleted.
func (d *discarding) discards(live, u *unstructured.Unstructured) bool {
	if !isOrdered(live) && !isByHand(live) {
		return false
	}
	var pod corev1.Pod
	return d.isFailed(live, u) && fromUnstructured(u.Object, &pod) == nil && !isPodReady(&pod)
}

// isFailed reports whether a pod is of the failed version that a rollback replaces. What the controller creates from
// now on is of the version that is applied, or below a partition of the one that was complete before: these are not.
func (d *discarding) isFailed(live, pod *unstructured.Unstructured) bool {
	if pod == nil || d.discard == nil || !isObserved(live) || pod.GetDeletionTimestamp() != nil ||
		pod.GetCreationTimestamp().Time.Before(d.discard.Since) {
		return false
	}
	switch live.GetKind() {
	case manifest.KindStatefulSet:
		update, _, _ := unstructured.NestedString(live.Object, "status", "updateRevision")
		current, _, _ := unstructured.NestedString(live.Object, "status", "currentRevision")
		of := pod.GetLabels()[labelControllerHash]
		return of != "" && update != "" && of != update && (of != current || isFromPartition(live, pod))
	case manifest.KindDaemonSet:
		newest, of := live.GetAnnotations()[annotationGeneration], pod.GetLabels()[labelGeneration]
		return isByHand(live) && of != "" && newest != "" && of != newest
	}
	return false
}

func isPodReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
