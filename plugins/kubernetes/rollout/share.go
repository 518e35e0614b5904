// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"
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
	ready := n.ready >= n.wanted || n.updated < n.wanted && (n.updated == 0 || t.readyOfNew(ctx) >= n.updated)
	switch {
	case live.GetDeletionTimestamp() != nil:
		line = "is being deleted"
	case !isObserved(live):
		t.progress = "the controller has not seen the change yet"
		return false
	case n.all == n.wanted && n.updated >= s.pods && ready:
		if n.updated > 0 && t.watched && !t.settled(live, line, time.Now()) {
			return false
		}
		t.log.Successf("%s: %s", t.name(), line)
		if old := n.wanted - n.updated; old > 0 {
			t.log.Infof("%s: %d of %d pods keep the old version until %s (%s)", t.name(), old, n.wanted, s.until,
				s.rule)
		}
		return true
	}
	t.readyAt = time.Time{}
	t.note(line)
	return false
}

// readyOfNew counts the pods of the newest template that are ready.
func (t *tracker) readyOfNew(ctx context.Context) (ready int64) {
	revision, err := t.newRevision(ctx)
	if err != nil {
		return 0
	}
	for _, u := range t.pods {
		var pod corev1.Pod
		if !revision.owns(u) || fromUnstructured(u.Object, &pod) != nil || pod.DeletionTimestamp != nil {
			continue
		}
		if isPodReady(&pod) {
			ready++
		}
	}
	return ready
}
