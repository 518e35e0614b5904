// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// share is the part of a workload that its controller brings to the new version by itself, as its update strategy says.
type share struct {
	// pods are those that the controller replaces.
	pods int64
	// rule is the field that says so, and until what ends that the other pods keep their version.
	rule, until string
}

// shareOf returns the share of a controller that leaves pods of the old version; ok is false for others.
//
// Kubernetes: with OnDelete a controller only creates pods that are missing, in the new version. Below a partition it
// creates them in the old version, so that a deletion does not help there.
func shareOf(live *unstructured.Unstructured) (s share, ok bool) {
	kind := live.GetKind()
	if kind != manifest.KindStatefulSet && kind != manifest.KindDaemonSet {
		return share{}, false
	}
	strategy, _, _ := unstructured.NestedString(live.Object, "spec", "updateStrategy", "type")
	if strategy == "OnDelete" {
		return share{rule: "updateStrategy: OnDelete", until: "someone deletes them"}, true
	}
	partition := number(live, 0, "spec", "updateStrategy", "rollingUpdate", "partition")
	if kind != manifest.KindStatefulSet || partition <= 0 {
		return share{}, false
	}
	return share{
		pods:  max(0, number(live, 1, "spec", "replicas")-partition),
		rule:  fmt.Sprintf("rollingUpdate.partition: %d", partition),
		until: "the partition is lowered",
	}, true
}

// counts are the pods of a workload by its status.
type counts struct{ wanted, updated, ready, all int64 }

func countsOf(live *unstructured.Unstructured) counts {
	if live.GetKind() == manifest.KindDaemonSet {
		return counts{
			wanted:  number(live, 0, "status", "desiredNumberScheduled"),
			updated: number(live, 0, "status", "updatedNumberScheduled"),
			ready:   number(live, 0, "status", "numberReady"),
			all:     number(live, 0, "status", "currentNumberScheduled"),
		}
	}
	return counts{
		wanted:  number(live, 1, "spec", "replicas"),
		updated: number(live, 0, "status", "updatedReplicas"),
		ready:   number(live, 0, "status", "readyReplicas"),
		all:     number(live, 0, "status", "replicas"),
	}
}

// lookAtShare judges a workload whose controller leaves pods of the old version: those are not waited for. The pods of
// the new version are, whoever made them new.
func (t *tracker) lookAtShare(ctx context.Context, live *unstructured.Unstructured, s share, line string) (done bool) {
	n := countsOf(live)
	switch {
	case live.GetDeletionTimestamp() != nil:
		line = "is being deleted"
	case !isObserved(live):
		t.progress = "the controller has not seen the change yet"
		return false
	case n.all == n.wanted && isShareDone(ctx, t, live, s, n):
		if n.updated > 0 && t.watched && !t.settled(live, line, time.Now()) {
			return false
		}
		t.log.Successf("%s: %s", t.name(), line)
		sayKept(t, live, s, n)
		return true
	}
	t.readyAt = time.Time{}
	t.note(line)
	return false
}

// isShareDone reports whether the controller has done its part and the pods of the new version are ready. Counts do not
// say which pods are new: where that matters, the pods have to be known.
func isShareDone(ctx context.Context, t *tracker, live *unstructured.Unstructured, s share, n counts) bool {
	replaces := t.discard != nil
	switch {
	case n.updated >= n.wanted, t.blind && n.updated >= s.pods:
		return n.ready >= n.wanted
	case s.pods == 0 && !replaces && (n.updated == 0 || n.ready >= n.wanted):
		return true
	case len(t.pods) == 0:
		return n.all == 0
	}
	isDiscarded := func(pod *unstructured.Unstructured) bool { return t.discards(live, pod) }
	newest, err := t.newRevision(ctx)
	switch {
	case err != nil, s.pods > 0 && newest.count(t.pods, live) < s.pods:
		return false
	case newest.count(t.pods, nil) > n.updated, newest.label == labelControllerHash &&
		newest.count(t.pods, nil) < n.updated: // a DaemonSet counts pods of an earlier generation that are the same
		return false // one of them is late
	case replaces && staying(t.pods) < n.wanted:
		return false // one that was deleted comes again
	case replaces && slices.ContainsFunc(t.pods, isDiscarded):
		return false
	}
	return n.ready >= n.wanted || n.updated == 0 || newest.ready(t.pods) >= n.updated
}

// sayKept says how many pods are of another version, and until when.
func sayKept(t *tracker, live *unstructured.Unstructured, s share, n counts) {
	old := n.wanted - n.updated
	var failed []string
	for _, pod := range t.pods {
		if t.isFailed(live, pod) {
			failed = append(failed, pod.GetName())
		}
	}
	if many := min(int64(len(failed)), old); many > 0 {
		old -= many
		t.log.Infof("%s: %d of %d pods keep the failed version until %s (%s)\nnext step: kubectl delete pod %s -n %s",
			t.name(), many, n.wanted, s.until, s.rule, strings.Join(failed, " "), live.GetNamespace())
	}
	if old > 0 {
		t.log.Infof("%s: %d of %d pods keep the old version until %s (%s)", t.name(), old, n.wanted, s.until, s.rule)
	}
}

// staying counts the pods that are not being deleted.
func staying(pods []*unstructured.Unstructured) (n int64) {
	for _, pod := range pods {
		if pod.GetDeletionTimestamp() == nil {
			n++
		}
	}
	return n
}

// count counts the pods of a template; with a workload only those that its controller replaces.
func (r revision) count(pods []*unstructured.Unstructured, workload *unstructured.Unstructured) (n int64) {
	for _, pod := range pods {
		if r.owns(pod) && pod.GetDeletionTimestamp() == nil && (workload == nil || isFromPartition(workload, pod)) {
			n++
		}
	}
	return n
}

// isFromPartition reports whether the controller of a StatefulSet replaces a pod: it is not below a partition.
func isFromPartition(live, pod *unstructured.Unstructured) bool {
	if isByHand(live) {
		return true // it creates only pods of the new version
	}
	at, found := strings.CutPrefix(pod.GetName(), live.GetName()+"-")
	ordinal, err := strconv.ParseInt(at, 10, 64)
	return found && err == nil && ordinal-number(live, 0, "spec", "ordinals", "start") >=
		number(live, 0, "spec", "updateStrategy", "rollingUpdate", "partition")
}

// ready counts the pods of a template that are ready.
func (r revision) ready(pods []*unstructured.Unstructured) (ready int64) {
	for _, u := range pods {
		var pod corev1.Pod
		if !r.owns(u) || fromUnstructured(u.Object, &pod) != nil || pod.DeletionTimestamp != nil {
			continue
		}
		if isPodReady(&pod) {
			ready++
		}
	}
	return ready
}
