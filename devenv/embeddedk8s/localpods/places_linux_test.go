// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// foreign listens as another program than the pods until the end of the test.
func foreign(t *testing.T) (listener net.Listener, port int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener, int32(listener.Addr().(*net.TCPAddr).Port)
}

// unused is a port at which no process listens.
func unused(t *testing.T) int32 {
	t.Helper()
	listener, port := foreign(t)
	require.NoError(t, listener.Close())
	return port
}

func declare(pod *corev1.Pod, ports ...int32) *corev1.Pod {
	for _, port := range ports {
		pod.Spec.Containers[0].Ports = append(pod.Spec.Containers[0].Ports, corev1.ContainerPort{ContainerPort: port})
	}
	return pod
}

func tcpProbe(port int32) *corev1.Probe {
	return &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
		TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)},
	}}
}

func TestAProbeFailsThatAnotherProgramWouldAnswer(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	listener, port := foreign(t)
	pod := declare(newPodOf("web", "listen=$PORT", "wait"), 8080, port)
	pod.Spec.Containers[0].ReadinessProbe = tcpProbe(port)
	c.Run(pod, "10.244.0.1")
	says := fmt.Sprintf("port %d is in use by PID %d (", port, os.Getpid())
	c.eventually(t, "an Event says so", func() bool {
		return c.said("Unhealthy: Readiness probe failed: "+says) && c.said("), not by this container")
	})
	status, _ := c.Status(pod.UID)
	require.False(t, isReady(status))
	_, err := c.HostPort("10.244.0.1", port)
	require.ErrorContains(t, err, says, "no connection goes to the other program")

	require.NoError(t, listener.Close())
	c.eventually(t, "no process listens there", func() bool {
		_, err := c.HostPort("10.244.0.1", port)
		return err != nil && err.Error() != "" && !c.reaches(port)
	})
}

// reaches reports whether someone listens at a port.
func (c *cluster) reaches(port int32) bool {
	conn, err := net.Dial("tcp", loopback(int(port)))
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

func TestAPodWithoutProbeIsNotReadyWhileAnotherProgramHasItsPort(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	listener, port := foreign(t)
	pod := declare(newPodOf("web", "listen=$PORT", "wait"), 8080, port)
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "its status says so", func(s Status) bool { return s.Ports != nil })
	require.Equal(t, ReasonPortInUse, status.Ports.Reason)
	require.Contains(t, status.Ports.Message, fmt.Sprintf("port %d is in use by PID %d (", port, os.Getpid()))
	require.False(t, isReady(status))
	require.True(t, c.said("PortInUse: port "+strconv.Itoa(int(port))))
	require.NoError(t, listener.Close())
	status = c.await(t, pod, "it is ready: nothing but its program is to blame", isReady)
	require.Equal(t, ReasonNotListening, status.Ports.Reason)
}

func TestAPodWhosePortsAreItsOwnIsReady(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	port := unused(t)
	pod := declare(newPodOf("web", "listen=$PORT", fmt.Sprintf("listen=%d", port), "wait"), 8080, port)
	pod.Spec.Containers[0].ReadinessProbe = tcpProbe(port)
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "it is ready", isReady)
	require.Nil(t, status.Ports)
	at, err := c.HostPort("10.244.0.1", port)
	require.NoError(t, err)
	require.Equal(t, loopback(int(port)), at)
}

func TestAListenerOfAProcessThatLeftTheContainersSessionIsItsOwn(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	port := unused(t)
	pod := declare(newPodOf("web", fmt.Sprintf("daemon=listen=%d", port), "listen=$PORT", "wait"), 8080, port)
	pod.Spec.Containers[0].ReadinessProbe = tcpProbe(port)
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "it is ready", isReady)
}

func TestAProgramThatIgnoresPORTIsReachedAtItsDeclaredPort(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	port := unused(t)
	pod := declare(newPodOf("web", fmt.Sprintf("listen=%d", port), "wait"), port)
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "it is ready", isReady)
	require.Nil(t, status.Ports)
	require.True(t, c.said(fmt.Sprintf("OtherPort: container main listens on port %d, not on ", port)))
	require.JSONEq(t, fmt.Sprintf(`{"%d":"127.0.0.1:%d"}`, port, port), status.Addresses)
	at, err := c.HostPort("10.244.0.1", port)
	require.NoError(t, err)
	require.Equal(t, loopback(int(port)), at)
}

func TestAProgramThatListensOnOneOtherPortIsReachedThere(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	declared, actual := unused(t), unused(t)
	pod := declare(newPodOf("web", fmt.Sprintf("listen=%d", actual), "wait"), declared)
	pod.Spec.Containers[0].ReadinessProbe = tcpProbe(declared)
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "it is ready", isReady)
	at, err := c.HostPort("10.244.0.1", declared)
	require.NoError(t, err)
	require.Equal(t, loopback(int(actual)), at)
	c.eventually(t, "an Event says so", func() bool {
		return c.said(fmt.Sprintf("OtherPort: container main listens on port %d, not on ", actual))
	})
}

func TestAProgramThatListensElsewhereIsNamed(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	declared, one, two := unused(t), unused(t), unused(t)
	pod := declare(newPodOf("web", fmt.Sprintf("listen=%d", one), fmt.Sprintf("listen=%d", two), "wait"), declared)
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "it counts as ready", isReady)
	require.NotNil(t, status.Ports)
	require.Equal(t, ReasonNotListening, status.Ports.Reason)
	require.Regexp(t, fmt.Sprintf(`^container main does not listen on port \d+ \(PORT\), which stands for its port `+
		`%d; it listens on %d, %d$`, declared, min(one, two), max(one, two)), status.Ports.Message)
	require.True(t, c.said("NotListening: container main does not listen on port"))
	_, err := c.HostPort("10.244.0.1", declared)
	require.ErrorContains(t, err, "does not listen")
}

func TestAProgramThatListensOnNothingIsNamed(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := declare(newPodOf("idle", "wait"), unused(t))
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "it counts as ready", isReady)
	require.Contains(t, status.Ports.Message, "it listens on no port")
}
