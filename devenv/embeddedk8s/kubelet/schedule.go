// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// schedule binds the pod to the node, or says why it cannot be. Resources of pods are not added up: nothing uses any.
func (k *Kubelet) schedule(ctx context.Context, pod *corev1.Pod) error {
	if len(pod.Spec.SchedulingGates) > 0 {
		return nil
	}
	obstacle, err := k.obstacle(ctx, pod)
	if err != nil {
		return err
	}
	if obstacle != "" {
		return k.leavePending(ctx, pod, "0/1 nodes are available: 1 "+obstacle+".")
	}
	annotations, how := map[string]string{SimulatedKey: "true"}, "simulated node"
	switch reason := k.whySimulated(pod); {
	case reason != "":
		annotations[ReasonKey], how = reason, "simulated, because "+reason
	case k.local != nil:
		annotations, how = map[string]string{LocalKey: "true"}, "processes of this machine"
	}
	err = k.config.Client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
			Annotations: annotations, // the API server copies them to the pod
		},
		Target: corev1.ObjectReference{Kind: "Node", Name: k.config.NodeName},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	k.recorder.Eventf(pod, corev1.EventTypeNormal, "Scheduled", "Successfully assigned %s/%s to %s (%s)",
		pod.Namespace, pod.Name, k.config.NodeName, how)
	return nil
}

// obstacle says what keeps the pod from the node; empty: nothing.
func (k *Kubelet) obstacle(ctx context.Context, pod *corev1.Pod) (string, error) {
	if podMode(pod) == Unschedulable {
		return fmt.Sprintf("node(s) excluded by annotation %s=%s", ModeAnnotation, Unschedulable), nil
	}
	node, err := k.nodes.Get(k.config.NodeName)
	if err != nil {
		return "", fmt.Errorf("look up node: %w", err)
	}
	matches, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	if err != nil {
		return "", fmt.Errorf("match node affinity: %w", err)
	}
	if !matches {
		return "node(s) didn't match Pod's node affinity/selector", nil
	}
	taints := node.Spec.Taints
	if node.Spec.Unschedulable {
		taints = append(taints[:len(taints):len(taints)],
			corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	taint, untolerated := corev1helpers.FindMatchingUntoleratedTaint(klog.FromContext(
		ctx,
	), taints, pod.Spec.Tolerations,
		func(taint *corev1.Taint) bool { return taint.Effect != corev1.TaintEffectPreferNoSchedule }, true)
	if untolerated {
		return fmt.Sprintf("node(s) had untolerated taint {%s: %s}", taint.Key, taint.Value), nil
	}
	if obstacle := resourceObstacle(pod, node); obstacle != "" {
		return obstacle, nil
	}
	return k.claimObstacle(ctx, pod)
}

func (k *Kubelet) leavePending(ctx context.Context, pod *corev1.Pod, message string) error {
	status := *pod.Status.DeepCopy()
	status.Conditions = setCondition(status.Conditions, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: message,
	}, pod.Generation, metav1.NewTime(k.config.Clock.Now()))
	return k.write(ctx, pod, outcome{
		status:  status,
		reports: []report{{corev1.EventTypeWarning, "FailedScheduling", message}},
	})
}

// nodeChanged gives pending pods another chance when the node has become a different target.
func (k *Kubelet) nodeChanged(before, after *corev1.Node) {
	if before.Spec.Unschedulable != after.Spec.Unschedulable || !maps.Equal(before.Labels, after.Labels) ||
		!equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints) {
		k.enqueuePending()
	}
}

func (k *Kubelet) enqueuePending() {
	pods, err := k.pods.List(labels.Everything())
	if err != nil {
		return // a lister on a cache does not fail
	}
	for _, pod := range pods {
		if pod.Spec.NodeName == "" {
			k.enqueue(pod)
		}
	}
}
