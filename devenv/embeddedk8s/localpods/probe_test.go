// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

func TestReadinessFollowsItsProbe(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	unready := filepath.Join(t.TempDir(), "unready")
	pod := server("web")
	main := &pod.Spec.Containers[0]
	main.Env = append(main.Env, corev1.EnvVar{Name: "UNREADY", Value: unready})
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "it is ready", isReady)
	require.NoError(t, os.WriteFile(unready, nil, 0o600))
	status := c.await(t, pod, "it is not ready", func(s Status) bool { return !isReady(s) })
	require.NotNil(t, status.Containers[0].State.Running)
	require.True(t, c.said("Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503"))
	require.Equal(t, "main: Readiness probe failed: HTTP probe failed with statuscode: 503", status.Unready)
	require.NoError(t, os.Remove(unready))
	require.Empty(t, c.await(t, pod, "it is ready again", isReady).Unready)
	require.Zero(t, status.Containers[0].RestartCount)
}

func TestAContainerThatFailsItsLivenessProbeIsRestarted(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := server("web")
	main := &pod.Spec.Containers[0]
	main.LivenessProbe = &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 1, ProbeHandler: corev1.ProbeHandler{
		TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(9)}, // nothing listens there
	}}
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "it was restarted", func(s Status) bool { return s.Containers[0].RestartCount > 0 })
	require.Contains(t, status.Containers[0].LastTerminationState.Terminated.ContainerID, "/main/0")
	require.True(t, c.said("Container main failed liveness probe, will be restarted"))
}

func TestAContainerHasStartedWhenItsStartupProbeHasPassed(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	there := filepath.Join(t.TempDir(), "there")
	pod := newPodOf("slow", "wait")
	check := corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/app", "fail-without=" + there}}}
	pod.Spec.Containers[0].StartupProbe = &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 60, ProbeHandler: check}
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "it runs", func(s Status) bool { return s.Containers[0].State.Running != nil })
	require.False(t, *status.Containers[0].Started)
	c.eventually(t, "its probe fails", func() bool { return c.said("Startup probe failed: exit status 1") })
	require.NoError(t, os.WriteFile(there, nil, 0o600))
	status = c.await(t, pod, "it is ready", isReady)
	require.True(t, *status.Containers[0].Started)
}

// serveGRPC has the program of the tests answer health checks on PORT.
const serveGRPC = "serve-grpc"

func answerHealthChecks() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err == nil {
		server := grpc.NewServer()
		grpc_health_v1.RegisterHealthServer(server, health.NewServer())
		err = server.Serve(listener)
	}
	fmt.Println(err)
}

func TestProbesSpeakGRPC(t *testing.T) {
	t.Parallel()
	own, err := os.Executable()
	require.NoError(t, err)
	c := newCluster(t, func(_ *Config, program *programs.Program) { program.Path = own })
	pod := newPodOf("grpc", serveGRPC)
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 9000}}
	check := corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 9000}}
	pod.Spec.Containers[0].ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, TimeoutSeconds: 5, ProbeHandler: check}
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "it is ready", isReady)
}

func TestAProbeOfAnotherProgramThanTheImagesOwnFails(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	file := filepath.Join(t.TempDir(), "pwned")
	pod := newPodOf("probe", "wait")
	pod.Spec.Containers[0].ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
		Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "touch " + file}},
	}}
	c.Run(pod, "10.244.0.1")
	c.eventually(t, "an event says so", func() bool { return c.said("neither the image's own program") })
	status, _ := c.Status(pod.UID)
	require.False(t, isReady(status))
	require.NoFileExists(t, file)
}

func TestHooksRunAfterTheStartAndBeforeTheEnd(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := emptyPod("hooks", corev1.RestartPolicyAlways)
	main := with(pod, false, "main", "append=$POD_ROOT/shared/diary:start", "wait")
	exec := func(step string) *corev1.LifecycleHandler {
		return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/app", step}}}
	}
	main.Lifecycle = &corev1.Lifecycle{
		PostStart: exec("append=$POD_ROOT/shared/diary:after"), PreStop: exec("append=$POD_ROOT/shared/diary:before"),
	}
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "the pod is ready", isReady)
	c.eventually(t, "it was started", func() bool { return len(c.diary(pod)) == 2 })
	require.ElementsMatch(t, []string{"start", "after"}, c.diary(pod))
	c.Run(deleted(pod, 30), "10.244.0.1")
	c.await(t, pod, "the pod has ended", hasEnded)
	require.Equal(t, "before", c.diary(pod)[2])
}

func TestAContainerWhosePostStartHookFailsIsRestarted(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("hook", "wait")
	pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{
		Exec: &corev1.ExecAction{Command: []string{"/app", "print=not today", "exit=1"}},
	}}
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "it was stopped", func(s Status) bool {
		return s.Containers[0].LastTerminationState.Terminated != nil
	})
	last := status.Containers[0].LastTerminationState.Terminated
	require.True(t, strings.HasPrefix(last.Message, "PostStartHook failed:"))
	require.True(t, c.said("FailedPostStartHook: PostStartHook failed: exit status 1: not today"))
}

func TestAProbeCountsFailuresOnlyOnceItHasHadTheTimeOfItsPeriod(t *testing.T) {
	t.Parallel()
	b := &probe{spec: &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 2, SuccessThreshold: 2}, quick: firstQuick}
	var elapsed time.Duration
	tries := 0
	for ; !b.record(false); tries++ {
		require.Equal(t, probeUnknown, b.now)
		elapsed += b.pause(false)
	}
	require.Equal(t, time.Second, elapsed)
	require.Greater(t, tries, 3)
	require.Equal(t, probeUnknown, b.now, "one failure is not enough")
	require.True(t, b.record(false))
	require.Equal(t, probeFailed, b.now)
	require.True(t, b.record(true))
	require.Equal(t, probeFailed, b.now, "one success is not enough")
	b.record(true)
	require.Equal(t, probePassed, b.now)
	require.True(t, b.record(false), "from now on each failure counts")
	require.Equal(t, time.Second, b.pause(true))
}

func TestACommandInAContainerEndsInTime(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("slow", "wait")
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "the pod runs", isReady)
	p := c.find(pod.UID)
	p.mu.Lock()
	run := p.running["main"]
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := inside{program: run.program, env: run.env, dir: run.dir, process: run.process}.run(
		ctx, []string{"/app", "ignore", "child", "wait"})
	require.ErrorContains(t, err, "did not end in time")
}
