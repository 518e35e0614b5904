// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/localpods"
)

// localStatus is how a pod with one container fares that runs.
func localStatus(ready bool) localpods.Status {
	return localpods.Status{Initialized: true, Containers: []corev1.ContainerStatus{{
		Name: "main", Ready: ready, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}}
}

func TestAPodThatIsNotReadySaysWhy(t *testing.T) {
	t.Parallel()
	local := localStatus(false)
	local.Unready = "main: Readiness probe failed: connection refused"
	status := assessLocal(newPod(Healthy, "app:v1"), "10.244.0.1", local, birth)
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		condition := conditionOf(t, status, kind)
		require.Equal(t, corev1.ConditionFalse, condition.Status)
		require.Equal(t, "containers with unready status: [main]; main: Readiness probe failed: connection refused",
			condition.Message)
	}
}

func TestAPodThatDoesNotListenSaysSoUntilItDoes(t *testing.T) {
	t.Parallel()
	pod := newPod(Healthy, "app:v1")
	pod.Status = assessLocal(pod, "10.244.0.1", localStatus(true), birth)
	require.NotContains(t, kinds(pod.Status), ListeningCondition, "nothing is said of pods that do")
	local := localStatus(true)
	local.Ports = &localpods.Problem{Reason: localpods.ReasonNotListening, Message: "it listens on no port"}
	pod.Status = assessLocal(pod, "10.244.0.1", local, birth)
	condition := conditionOf(t, pod.Status, ListeningCondition)
	require.Equal(t, corev1.ConditionFalse, condition.Status)
	require.Equal(t, "NotListening: it listens on no port", condition.Reason+": "+condition.Message)
	require.Equal(t, corev1.ConditionTrue, conditionOf(t, pod.Status, corev1.PodReady).Status)

	pod.Status = assessLocal(pod, "10.244.0.1", localStatus(true), birth.Add(time.Minute))
	condition = conditionOf(t, pod.Status, ListeningCondition)
	require.Equal(t, corev1.ConditionTrue, condition.Status)
	require.Empty(t, condition.Message)
	require.Equal(t, birth.Add(time.Minute), condition.LastTransitionTime.Time)
}

func kinds(status corev1.PodStatus) (all []corev1.PodConditionType) {
	for _, condition := range status.Conditions {
		all = append(all, condition.Type)
	}
	return all
}

func TestAPodWhoseInitContainerFailedIsNotInitialized(t *testing.T) {
	t.Parallel()
	failed := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}
	local := localpods.Status{
		Failed: true, Ended: true, Init: []corev1.ContainerStatus{{Name: "setup", State: failed}},
	}
	status := assessLocal(newPod(Healthy, "app:v1"), "10.244.0.1", local, birth)
	require.Equal(t, corev1.PodFailed, status.Phase)
	condition := conditionOf(t, status, corev1.PodInitialized)
	require.Equal(t, corev1.ConditionFalse, condition.Status)
	require.Equal(t, "ContainersNotInitialized: containers with incomplete status: [setup]",
		condition.Reason+": "+condition.Message)
}
