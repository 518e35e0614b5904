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
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// server is a pod whose container serves, with a readiness probe.
func server(name string) *corev1.Pod {
	pod := newPodOf(name, "serve")
	main := &pod.Spec.Containers[0]
	main.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
	main.Env = []corev1.EnvVar{
		{Name: "WHO", Value: "world"}, {Name: "GREETING", Value: "Hello, $(WHO)! $(NOBODY) $$(WHO)"},
	}
	main.ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("http")},
	}}
	return pod
}

func TestTwoPodsOfOneProgramAnswerSideBySide(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	addresses := map[string]bool{}
	for name, address := range map[string]string{"one": "10.244.0.1", "two": "10.244.0.2"} {
		pod := server(name)
		c.Run(pod, address)
		status := c.await(t, pod, "the pod is ready", isReady)
		require.True(t, *status.Containers[0].Started)
		at, err := c.HostPort(address, 8080)
		require.NoError(t, err)
		require.JSONEq(t, `{"8080":"`+at+`"}`, status.Addresses)
		greeting, err := fetch("http://" + at)
		require.NoError(t, err)
		require.Equal(t, "Hello, world! $(NOBODY) $(WHO)\n", greeting)
		addresses[at] = true
	}
	require.Len(t, addresses, 2)
	_, err := c.HostPort("10.244.9.9", 8080)
	require.Error(t, err)
}

func TestALimitThatIsTooSmallForAnyProcessIsNamed(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("tiny", "wait")
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: quantity.MustParse("1Ki")}
	c.Run(pod, "10.244.0.1")
	c.eventually(t, "an Event says so", func() bool {
		return c.said("LimitNotEnforced: container main: a limit of memory of 1Ki is less than a process needs")
	})
}

func TestADeletedPodEndsAndLeavesNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := server("web")
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "the pod is ready", isReady)
	inside, err := c.Inside(pod.UID, "main")
	require.NoError(t, err)

	c.Run(deleted(pod, 30), "10.244.0.1")
	status := c.await(t, pod, "the pod has ended", hasEnded)
	terminated := status.Containers[0].State.Terminated
	require.NotNil(t, terminated)
	require.Zero(t, terminated.ExitCode)
	require.Equal(t, "Completed", terminated.Reason)
	require.Equal(t, "serving\nstopped\n", c.output(t, pod, "main", false))
	<-inside.Ended
	_, err = c.HostPort("10.244.0.1", 8080)
	require.Error(t, err)

	c.Forget(pod.UID)
	c.eventually(t, "the folder is gone", func() bool {
		_, err := os.Stat(filepath.Join(c.dir, string(pod.UID)))
		return os.IsNotExist(err)
	})
}

func TestAContainerThatIgnoresSIGTERMIsKilledAfterItsGrace(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("stubborn", "ignore", "child", "print=ready", "wait")
	c.Run(pod, "10.244.0.1")
	c.eventually(t, "it ignores the signal", func() bool {
		return strings.Contains(c.output(t, pod, "main", false), "ready")
	})
	pid := c.find(pod.UID).processOf("main").PID
	c.Run(deleted(pod, 1), "10.244.0.1")
	status := c.await(t, pod, "the pod has ended", hasEnded)
	require.EqualValues(t, 137, status.Containers[0].State.Terminated.ExitCode)
	c.eventually(t, "its child is gone too", func() bool { return gone(pid) })
}

func TestACrashingContainerShowsItsLastLinesAndBacksOff(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("crash", "print=starting", "complain=cannot read the configuration", "exit=3")
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "it backs off", func(s Status) bool {
		return s.Containers[0].State.Waiting != nil && s.Containers[0].State.Waiting.Reason == "CrashLoopBackOff"
	})
	require.Contains(t, status.Containers[0].State.Waiting.Message, "back-off 1s")
	last := status.Containers[0].LastTerminationState.Terminated
	require.EqualValues(t, 3, last.ExitCode)
	require.Equal(t, "Error", last.Reason)
	require.Equal(t, "starting\ncannot read the configuration\n", last.Message)

	status = c.await(t, pod, "it was started again", func(s Status) bool { return s.Containers[0].RestartCount == 1 })
	c.await(t, pod, "it backs off longer", func(s Status) bool {
		waiting := s.Containers[0].State.Waiting
		return waiting != nil && strings.Contains(waiting.Message, "back-off 2s")
	})
	require.NotEmpty(t, c.output(t, pod, "main", true), "the run before can be read")
	require.True(t, c.said("Back-off 1s restarting failed container main"))
}

func TestAContainerWithoutRestartsEndsThePod(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for code, name := range map[int32]string{0: "good", 7: "bad"} {
		pod := newPodOf(name, "print=done", "exit="+string('0'+rune(code)))
		pod.Spec.RestartPolicy = corev1.RestartPolicyNever
		c.Run(pod, "10.244.0."+string('1'+rune(code)))
		status := c.await(t, pod, "the pod has ended", hasEnded)
		require.Equal(t, code, status.Containers[0].State.Terminated.ExitCode)
		require.Equal(t, "done\n", c.output(t, pod, "main", false))
	}
}

func TestAContainerThatHasTooMuchMemoryIsEnded(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("hungry", "eat=512", "wait")
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: quantity.MustParse("64Mi")}
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "it was ended", func(s Status) bool {
		return s.Containers[0].LastTerminationState.Terminated != nil
	})
	require.Equal(t, "OOMKilled", status.Containers[0].LastTerminationState.Terminated.Reason)
	require.NotEmpty(t, status.Memory)
}
