// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var birth = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newPod(mode Mode, images ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "web", UID: "1-2-3", Generation: 1,
			Annotations: map[string]string{ModeAnnotation: string(mode)},
		},
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyAlways, NodeName: "embedded"},
	}
	for _, image := range images {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "c" + image[:1], Image: image})
	}
	return pod
}

// assessAt assesses a pod after so long a life, with nothing written in between.
func assessAt(pod *corev1.Pod, age time.Duration) outcome {
	started := metav1.NewTime(birth)
	pod.Status.StartTime = &started
	return assess(pod, "10.244.0.1", nil, lacks{}, birth.Add(age))
}

func conditionOf(t *testing.T, status corev1.PodStatus, kind corev1.PodConditionType) corev1.PodCondition {
	t.Helper()
	for _, condition := range status.Conditions {
		if condition.Type == kind {
			return condition
		}
	}
	require.FailNowf(t, "no such condition", "%s", kind)
	return corev1.PodCondition{}
}

func TestAHealthyPodRunsAtOnceAndStaysAsItIs(t *testing.T) {
	t.Parallel()
	pod := newPod(Healthy, "nginx:1.27")
	first := assess(pod, "10.244.0.1", nil, lacks{}, birth)
	require.Equal(t, corev1.PodRunning, first.status.Phase)
	require.Equal(t, corev1.ConditionTrue, conditionOf(t, first.status, corev1.PodReady).Status)
	require.Zero(t, first.again)

	pod.Status = first.status
	second := assess(pod, "10.244.0.1", nil, lacks{}, birth.Add(time.Hour))
	require.True(t, equality.Semantic.DeepEqual(first.status, second.status), "nothing is written twice")
	require.Empty(t, second.reports)
}

func TestAPodOfAJobSucceeds(t *testing.T) {
	t.Parallel()
	pod := newPod(Healthy, "busybox")
	pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	status := assess(pod, "10.244.0.1", nil, lacks{}, birth).status
	require.Equal(t, corev1.PodSucceeded, status.Phase)
	require.Equal(t, "PodCompleted", conditionOf(t, status, corev1.PodReady).Reason)
}

func TestAPodOfAJobFailsWhenItCrashesAndMayNotRestart(t *testing.T) {
	t.Parallel()
	pod := newPod(CrashLoop, "busybox")
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	status := assess(pod, "10.244.0.1", nil, lacks{}, birth).status
	require.Equal(t, corev1.PodFailed, status.Phase)
	require.EqualValues(t, 1, status.ContainerStatuses[0].State.Terminated.ExitCode)
}

func TestAnImageThatCannotBePulledBacksOff(t *testing.T) {
	t.Parallel()
	pod := newPod(ImagePullError, "nginx:1.27")
	first := assessAt(pod, 0)
	require.Equal(t, "ErrImagePull", first.status.ContainerStatuses[0].State.Waiting.Reason)
	require.Equal(t, corev1.PodPending, first.status.Phase)
	require.Equal(t, pullErrorShown, first.again)
	require.Equal(t, "Failed", first.reports[0].reason)

	second := assessAt(pod, pullErrorShown)
	require.Equal(t, "ImagePullBackOff", second.status.ContainerStatuses[0].State.Waiting.Reason)
	require.Zero(t, second.again)
	require.Equal(t, "BackOff", second.reports[0].reason)
}

func TestOneBadImageKeepsThePodPendingWhileOthersRun(t *testing.T) {
	t.Parallel()
	status := assessAt(newPod(Healthy, "app:v1", "registry.invalid/sidecar:v1"), 0).status
	require.Equal(t, corev1.PodPending, status.Phase)
	require.NotNil(t, status.ContainerStatuses[0].State.Running)
	require.NotNil(t, status.ContainerStatuses[1].State.Waiting)
	require.Equal(t, "containers with unready status: [cr]", conditionOf(t, status, corev1.PodReady).Message)
}

func TestACrashLoopCountsRestartsAndBacksOffLonger(t *testing.T) {
	t.Parallel()
	for _, step := range []struct {
		age      time.Duration
		restarts int32
		again    time.Duration
	}{
		{0, 1, 10 * time.Second},
		{10 * time.Second, 2, 20 * time.Second},
		{29 * time.Second, 2, time.Second},
		{30 * time.Second, 3, 40 * time.Second},
		{70 * time.Second, 4, 80 * time.Second},
	} {
		outcome := assessAt(newPod(CrashLoop, "app:v1"), step.age)
		container := outcome.status.ContainerStatuses[0]
		require.Equal(t, "CrashLoopBackOff", container.State.Waiting.Reason)
		require.Equal(t, step.restarts, container.RestartCount, "after %s", step.age)
		require.Equal(t, step.again, outcome.again, "after %s", step.age)
		require.EqualValues(t, 1, container.LastTerminationState.Terminated.ExitCode)
		require.Equal(t, corev1.PodRunning, outcome.status.Phase)
	}
}

func TestCrashBackOffIsBounded(t *testing.T) {
	t.Parallel()
	crashes, last, next := crashesBy(24 * time.Hour)
	require.Greater(t, crashes, 250)
	require.Equal(t, maxCrashBackOff, next-last)
}

func TestANeverReadyPodRunsWithoutBeingReady(t *testing.T) {
	t.Parallel()
	status := assessAt(newPod(NeverReady, "app:v1"), 0).status
	require.Equal(t, corev1.PodRunning, status.Phase)
	require.Equal(t, "ContainersNotReady", conditionOf(t, status, corev1.PodReady).Reason)
}

func TestContainersWaitForInitContainers(t *testing.T) {
	t.Parallel()
	pod := newPod(Healthy, "app:v1")
	pod.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "setup:does-not-exist"}}
	status := assessAt(pod, 0).status
	require.Equal(t, corev1.PodPending, status.Phase)
	require.Equal(t, "PodInitializing", status.ContainerStatuses[0].State.Waiting.Reason)
	require.Equal(t, corev1.ConditionFalse, conditionOf(t, status, corev1.PodInitialized).Status)

	pod.Spec.InitContainers[0].Image = "setup:v1"
	status = assessAt(pod, 0).status
	require.Equal(t, corev1.PodRunning, status.Phase)
	require.NotNil(t, status.InitContainerStatuses[0].State.Terminated)
}

func TestAReadinessGateHoldsReadinessBack(t *testing.T) {
	t.Parallel()
	pod := newPod(Healthy, "app:v1")
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	require.Equal(t, "ReadinessGatesNotReady", conditionOf(t, assessAt(pod, 0).status, corev1.PodReady).Reason)

	pod.Status.Conditions = []corev1.PodCondition{{Type: "example.com/gate", Status: corev1.ConditionTrue}}
	status := assessAt(pod, 0).status
	require.Equal(t, corev1.ConditionTrue, conditionOf(t, status, corev1.PodReady).Status)
	require.Equal(t, corev1.ConditionTrue, conditionOf(t, status, "example.com/gate").Status)
}

func TestAnImageThatIsBuiltHereHasToBeKnown(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{Status: corev1.NodeStatus{Images: []corev1.ContainerImage{
		{Names: []string{"pipedeck.dev/web:1", "pipedeck.dev/web:v1"}}, {Names: []string{"pipedeck.dev/latest"}},
		{Names: []string{"Not A Reference"}},
	}}}
	known := imagesOf(node)
	for image, lacks := range map[string]bool{
		"pipedeck.dev/web:1": false, "pipedeck.dev/web:v1": false, "pipedeck.dev/latest": false,
		"pipedeck.dev/latest:latest": false,
		"pipedeck.dev/web:2":         true, "pipedeck.dev/web": true, "pipedeck.dev/web@sha256:" + digest: true,
		"nginx:1.27": false, "pipedeck.dev.example.com/web:2": false, "Not A Reference": false,
	} {
		require.Equal(t, lacks, known.lacks(image), image)
	}

	pod := newPod(Healthy, "pipedeck.dev/web:1")
	waiting := assess(pod, "10.244.0.1", nil, lacks{}, birth)
	require.Equal(t, "ErrImagePull", waiting.status.ContainerStatuses[0].State.Waiting.Reason)
	pod.Status = waiting.status
	running := assess(pod, "10.244.0.1", known, lacks{}, birth.Add(time.Minute))
	require.Equal(t, corev1.PodRunning, running.status.Phase)
	pod.Status = running.status
	require.Equal(
		t, corev1.PodRunning, assess(pod, "10.244.0.1", nil, lacks{}, birth.Add(time.Hour)).status.Phase,
		"what runs does not need it again",
	)
}

func TestImagesAskForAMode(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]Mode{
		"nginx":                               Healthy,
		"ghcr.io/org/app:v1.2.3":              Healthy,
		"localhost:5000/app@sha256:" + digest: Healthy,
		"registry.invalid/app:v1":             ImagePullError,
		"eu.registry.invalid:5000/team/app":   ImagePullError,
		"nginx:does-not-exist":                ImagePullError,
		"Nginx:1.27":                          invalidImage,
		"app:v1:v2":                           invalidImage,
		"{{ .Values.image }}":                 invalidImage,
	} {
		require.Equal(t, want, imageMode(image), image)
	}
}

const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
