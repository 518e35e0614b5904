// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/localpods"
)

// conditions are the pod's conditions after the kubelet's own five have been set; those of others stay.
func (v *podView) conditions(status corev1.PodStatus) []corev1.PodCondition {
	conditions := status.Conditions
	set := func(kind corev1.PodConditionType, holds bool, reason, message string) {
		wanted := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message}
		if holds {
			wanted.Status = corev1.ConditionTrue
		}
		conditions = setCondition(conditions, wanted, v.pod.Generation, v.now)
	}
	set(corev1.PodScheduled, true, "", "")
	set(corev1.PodReadyToStartContainers, !finished(status.Phase), "", "")

	incomplete := fmt.Sprintf("containers with incomplete status: [%s]", unready(status.InitContainerStatuses))
	if finished(status.Phase) {
		if v.blocked {
			set(corev1.PodInitialized, false, "ContainersNotInitialized", incomplete)
		} else {
			set(corev1.PodInitialized, true, "PodCompleted", "")
		}
		set(corev1.ContainersReady, false, "PodCompleted", "")
		set(corev1.PodReady, false, "PodCompleted", "")
		return conditions
	}
	if v.blocked {
		set(corev1.PodInitialized, false, "ContainersNotInitialized", incomplete)
	} else {
		set(corev1.PodInitialized, true, "", "")
	}
	if names := unready(status.ContainerStatuses); names != "" {
		message := fmt.Sprintf("containers with unready status: [%s]", names)
		if v.unready != "" {
			message += "; " + v.unready
		}
		set(corev1.ContainersReady, false, "ContainersNotReady", message)
		set(corev1.PodReady, false, "ContainersNotReady", message)
		return conditions
	}
	set(corev1.ContainersReady, true, "", "")
	if gate := closedGate(v.pod); gate != "" {
		set(
			corev1.PodReady, false, "ReadinessGatesNotReady",
			fmt.Sprintf("the status of pod readiness gate %q is not \"True\"", gate),
		)
	} else {
		set(corev1.PodReady, true, "", "")
	}
	return conditions
}

// ListeningCondition is false on a pod of which a container does not listen on a port that it declares, so that no
// connection reaches it there. A pod to which that never happened does not have it.
const ListeningCondition corev1.PodConditionType = "pipedeck.dev/Listening"

func setListening(
	conditions []corev1.PodCondition, generation int64, problem *localpods.Problem, now metav1.Time,
) []corev1.PodCondition {
	has := slices.ContainsFunc(conditions, func(c corev1.PodCondition) bool { return c.Type == ListeningCondition })
	wanted := corev1.PodCondition{Type: ListeningCondition, Status: corev1.ConditionTrue}
	if problem != nil {
		wanted.Status, wanted.Reason, wanted.Message = corev1.ConditionFalse, problem.Reason, problem.Message
	} else if !has {
		return conditions
	}
	return setCondition(conditions, wanted, generation, now)
}

// setCondition puts wanted among conditions; its transition time is now only if it comes to hold, or ceases to, with
// it.
func setCondition(
	conditions []corev1.PodCondition, wanted corev1.PodCondition, generation int64, now metav1.Time,
) []corev1.PodCondition {
	wanted.ObservedGeneration = generation
	for i, condition := range conditions {
		if condition.Type != wanted.Type {
			continue
		}
		wanted.LastTransitionTime = condition.LastTransitionTime
		if condition.Status != wanted.Status {
			wanted.LastTransitionTime = now
		}
		conditions[i] = wanted
		return conditions
	}
	wanted.LastTransitionTime = now
	return append(conditions, wanted)
}

func closedGate(pod *corev1.Pod) string {
	for _, gate := range pod.Spec.ReadinessGates {
		open := false
		for _, condition := range pod.Status.Conditions {
			open = open || condition.Type == gate.ConditionType && condition.Status == corev1.ConditionTrue
		}
		if !open {
			return string(gate.ConditionType)
		}
	}
	return ""
}

func finished(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}
