// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	// settleTime is how long pods that nothing probes have to stay up. A container without a readiness probe counts as
	// ready when its process has begun, and a kubelet takes a second or two to report that it has ended again.
	settleTime = 3 * time.Second
	// annotationSimulated is on pods of an embedded Kubernetes, in which nothing runs that could end.
	annotationSimulated = "pipedeck.dev/simulated"
)

// settled reports whether a workload that has become ready has been so for long enough.
func (t *tracker) settled(live *unstructured.Unstructured, line string, now time.Time) bool {
	if !isUnprobed(live) || t.isSimulated() {
		return true
	}
	if t.readyAt.IsZero() {
		t.readyAt = now
	}
	if len(t.pods) > 0 { // else they may turn out to be simulated
		t.note(fmt.Sprintf("%s; without a readiness probe it has to stay so for %s", line, settleTime))
	}
	return !now.Before(t.readyAt.Add(settleTime))
}

// isSimulated reports whether no container of the workload has run.
func (t *tracker) isSimulated() bool { return len(t.pods) > 0 && !slices.ContainsFunc(t.pods, isReal) }

// logSimulated says which workloads are only as ready, or done, as the cluster pretends.
func logSimulated(log Log, names []string) {
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed:maxNamed], fmt.Sprintf("%d more", more))
	}
	log.Infof("Simulated, so no container of these has run: %s", strings.Join(names, ", "))
}

// maxNamed bounds the workloads that one line names.
const maxNamed = 5

func isReal(pod *unstructured.Unstructured) bool {
	return pod.GetAnnotations()[annotationSimulated] != "true"
}

// isUnprobed reports whether a container of the workload counts as ready as soon as it runs.
func isUnprobed(live *unstructured.Unstructured) bool {
	path := []string{"spec", "template", "spec"}
	if live.GetKind() == "Pod" {
		path = []string{"spec"}
	}
	if live.GetKind() == kindJob || number(live, 0, "spec", "minReadySeconds") > 0 || isEmpty(live) {
		return false
	}
	raw, _, _ := unstructured.NestedMap(live.Object, path...)
	var spec corev1.PodSpec
	if fromUnstructured(raw, &spec) != nil {
		return false
	}
	return slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool { return c.ReadinessProbe == nil })
}

// isEmpty reports whether a workload is to have no pods.
func isEmpty(live *unstructured.Unstructured) bool {
	switch live.GetKind() {
	case "Pod":
		return false
	case manifest.KindDaemonSet:
		return number(live, 0, "status", "desiredNumberScheduled") == 0
	}
	return number(live, 1, "spec", "replicas") == 0
}
