// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

// with adds a container that has a volume in which containers leave what they do.
func with(pod *corev1.Pod, init bool, name string, steps ...string) *corev1.Container {
	container := corev1.Container{
		Name: name, Image: testImage, Args: steps,
		VolumeMounts: []corev1.VolumeMount{{Name: "shared", MountPath: "/shared"}},
	}
	if init {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, container)
		return &pod.Spec.InitContainers[len(pod.Spec.InitContainers)-1]
	}
	pod.Spec.Containers = append(pod.Spec.Containers, container)
	return &pod.Spec.Containers[len(pod.Spec.Containers)-1]
}

func emptyPod(name string, policy corev1.RestartPolicy) *corev1.Pod {
	pod := newPodOf(name)
	pod.Spec.RestartPolicy, pod.Spec.Containers = policy, nil
	pod.Spec.Volumes = []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{},
	}}}
	return pod
}

// diary is what the containers of a pod have left in the shared volume.
func (c *cluster) diary(pod *corev1.Pod) []string {
	content, _ := os.ReadFile(filepath.Join(c.dir, string(pod.UID), "volumes/shared/diary"))
	return strings.Fields(string(content))
}

func TestInitContainersRunOneAfterTheOtherAndSidecarsAroundTheOthers(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := emptyPod("order", corev1.RestartPolicyNever)
	always := corev1.ContainerRestartPolicyAlways
	with(pod, true, "first", "pause=100ms", "append=$POD_ROOT/shared/diary:first")
	with(pod, true, "sidecar", "append=$POD_ROOT/shared/diary:sidecar", "serve").RestartPolicy = &always
	with(pod, true, "second", "append=$POD_ROOT/shared/diary:second")
	with(pod, false, "main", "append=$POD_ROOT/shared/diary:main")
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "the pod has ended", hasEnded)
	require.False(t, status.Failed)
	diary := c.diary(pod)
	require.Equal(t, "first", diary[0])
	require.Equal(t, "main", diary[len(diary)-1])
	require.ElementsMatch(t, []string{"first", "sidecar", "second", "main"}, diary)
	require.Equal(t, "Completed", status.Init[1].State.Terminated.Reason, "the sidecar was stopped")
}

func TestAFailedInitContainerFailsAPodWithoutRestarts(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := emptyPod("init", corev1.RestartPolicyNever)
	with(pod, true, "setup", "complain=no database", "exit=1")
	with(pod, false, "main", "wait")
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "the pod has ended", hasEnded)
	require.True(t, status.Failed)
	require.Equal(t, "no database\n", status.Init[0].State.Terminated.Message)
	require.False(t, status.Initialized)
	require.Equal(t, "PodInitializing", status.Containers[0].State.Waiting.Reason)
}

func TestAnInitContainerIsTriedAgain(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := emptyPod("retry", corev1.RestartPolicyAlways)
	with(pod, true, "setup", "append=$POD_ROOT/shared/diary:try", "fail-without=$POD_ROOT/shared/go")
	with(pod, false, "main", "wait")
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "it backs off", func(s Status) bool {
		return s.Init[0].State.Waiting != nil && s.Init[0].State.Waiting.Reason == "CrashLoopBackOff"
	})
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, string(pod.UID), "volumes/shared/go"), nil, 0o600))
	c.await(t, pod, "the pod runs", isReady)
	require.Equal(t, []string{"try", "try"}, c.diary(pod))
}

func TestAPodThatIsTooLongActiveFails(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod, seconds, started := newPodOf("late", "wait"), int64(600), metav1.Now()
	pod.Spec.ActiveDeadlineSeconds, pod.Status.StartTime = &seconds, &started
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "the pod runs", isReady)
	sooner := pod.DeepCopy()
	*sooner.Spec.ActiveDeadlineSeconds = 0
	c.Run(sooner, "10.244.0.1")
	status := c.await(t, pod, "the pod has ended", hasEnded)
	require.True(t, status.Failed)
	require.Equal(t, "DeadlineExceeded", status.Reason)
}

func TestADeletedPodIsRetiredBeforeItsContainersEnd(t *testing.T) {
	t.Parallel()
	services := someServices{retired: make(chan string)}
	c := newCluster(t, func(config *Config, _ *programs.Program) { config.Services = services })
	pod := server("web")
	pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/stopping", Port: pod.Spec.Containers[0].ReadinessProbe.HTTPGet.Port},
	}}
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "the pod is ready", isReady)
	c.Run(deleted(pod, 30), "10.244.0.1")
	c.await(t, pod, "it is not ready at once", func(s Status) bool { return !isReady(s) })
	at, err := c.HostPort("10.244.0.1", 8080)
	require.NoError(t, err, "it answers still")
	_, err = fetch("http://" + at)
	require.NoError(t, err)
	require.Equal(t, "10.244.0.1", <-services.retired)
	c.await(t, pod, "the pod has ended", hasEnded)
	require.Equal(t, "serving\ntold to stop\nstopped\n", c.output(t, pod, "main", false))
}

func TestAPodGoesOnWhereItsStatusWasLeft(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	pod := newPodOf("again", "wait")
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", RestartCount: 4, ContainerID: "process://x", State: running,
	}}
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "the pod runs", isReady)
	require.EqualValues(t, 5, status.Containers[0].RestartCount)
	require.Equal(t, "ContainerStatusUnknown", status.Containers[0].LastTerminationState.Terminated.Reason)

	job := newPodOf("job", "wait")
	job.Spec.RestartPolicy = corev1.RestartPolicyNever
	job.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ContainerID: "process://x", State: running}}
	c.Run(job, "10.244.0.2")
	status = c.await(t, job, "it is not started again", hasEnded)
	require.EqualValues(t, 137, status.Containers[0].State.Terminated.ExitCode)
}
