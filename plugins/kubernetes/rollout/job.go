// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

const kindJob = "Job"

// jobStatus is that of kstatus, but that a Job which has begun is not done yet: whoever puts one among the manifests
// wants to know whether it succeeds.
func jobStatus(live *unstructured.Unstructured, result *status.Result) status.Status {
	if _, complete := condition(live, "Complete"); result.Status == status.CurrentStatus && !complete {
		return status.InProgressStatus
	}
	return result.Status
}

// isSuspended reports whether a Job that has not ended is not to run now: it cannot end by itself.
func isSuspended(live *unstructured.Unstructured) bool {
	suspended, _, _ := unstructured.NestedBool(live.Object, "spec", "suspend")
	_, complete := condition(live, "Complete")
	_, failed := condition(live, "Failed")
	return live.GetKind() == kindJob && suspended && !complete && !failed
}

func describeJob(live *unstructured.Unstructured) string {
	line := fmt.Sprintf("%d of %d completed", number(live, 0, "status", "succeeded"),
		number(live, 1, "spec", "completions"))
	if failed := number(live, 0, "status", "failed"); failed > 0 {
		line += fmt.Sprintf(", %d failed", failed)
	}
	return line
}

// condition returns the message of a condition that is true.
func condition(o *unstructured.Unstructured, kind string) (message string, isTrue bool) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind && c["status"] == "True" {
			message, _ = c["message"].(string)
			return message, true
		}
	}
	return "", false
}

// removesItself reports whether a Job goes by itself when it has ended: then it is no failure that it is gone.
func removesItself(live *unstructured.Unstructured) bool {
	_, found, _ := unstructured.NestedInt64(live.Object, "spec", "ttlSecondsAfterFinished")
	return live.GetKind() == kindJob && found
}

// isOfJob reports whether a pod is one of a Job, which itself counts how often it may fail.
func isOfJob(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == kindJob
}

// jobFailed is the reason of a Job that failed, with the last words of the pod that failed last.
func (t *tracker) jobFailed(ctx context.Context) string {
	message, _ := condition(t.workload.Live, "Failed")
	return t.withLastOutput(ctx, "it failed"+detail(message))
}

// withLastOutput adds to a reason the last words of the pod that failed last. What ran them may be known to have failed
// before its pods are.
func (t *tracker) withLastOutput(ctx context.Context, reason string) string {
	if t.lastCrash.text == "" {
		if t.pods = t.listPods(ctx); len(t.pods) > 0 {
			t.inspect(ctx)
		}
	}
	if t.lastCrash.text == "" {
		return t.withProblems(reason)
	}
	return reason + "; " + t.lastCrash.withOutput()
}

// listPods returns the pods of the workload as they are now; none when they cannot be had.
func (t *tracker) listPods(ctx context.Context) []*unstructured.Unstructured {
	live := t.workload.Live
	opts, ok := listOptions(live)
	if live.GetKind() == "Pod" {
		opts, ok = cluster.Named(live.GetName()), true
	}
	if !ok {
		return nil
	}
	list, err := t.cluster.Resource(PodResource, live.GetNamespace()).List(ctx, opts)
	if err != nil {
		return nil
	}
	pods := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		pods[i] = &list.Items[i]
	}
	return pods
}

// withOutput is the text of a problem and the end of what the container wrote. The first line, which is the reason of
// the stage, holds the line that says why it ended.
func (p problem) withOutput() string {
	last := cluster.LastLine(p.output)
	switch {
	case last == "" || strings.HasSuffix(p.text, ": "+p.output):
		return p.text
	case !strings.Contains(p.output, "\n"):
		return p.text + "; its last output: " + last
	case strings.HasSuffix(p.text, ": "+last):
		return p.text + "\nits last output:\n" + p.output
	}
	return p.text + ": " + last + "\nits last output:\n" + p.output
}
