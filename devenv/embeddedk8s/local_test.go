// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubelet"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

// containerImage is the image of localpods/testdata/container.
const containerImage = "pipedeck.dev/container:v1"

// listPrograms builds the program of containerImage and returns a list with it.
func listPrograms(t *testing.T, dir string) (list string) {
	t.Helper()
	path := filepath.Join(dir, "container")
	output, err := exec.Command("go", "build", "-o", path, "./localpods/testdata/container").CombinedOutput()
	require.NoError(t, err, string(output))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256(content)
	encoded, err := json.Marshal(programs.List{Version: programs.Version, Programs: []programs.Program{{
		Image: containerImage, Path: path, SHA256: hex.EncodeToString(sum[:]), HonoursPort: true, Entrypoint: "/app",
	}}})
	require.NoError(t, err)
	list = filepath.Join(dir, "list.json")
	require.NoError(t, os.WriteFile(list, encoded, 0o600))
	return list
}

// serving is a pod template whose container serves a greeting.
func serving(greeting string) corev1.PodTemplateSpec {
	spec := podSpec(containerImage)
	main := &spec.Containers[0]
	main.Args = []string{"serve"}
	main.Env = []corev1.EnvVar{{Name: "GREETING", Value: greeting}}
	main.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
	main.ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("http")},
	}}
	return corev1.PodTemplateSpec{Spec: spec}
}

// greetings asks each pod of an application at the address that it shows.
func greetings(t *testing.T, client kubernetes.Interface, name string) (all []string) {
	t.Helper()
	for _, pod := range podsOf(t, client, name) {
		var addresses map[string]string
		require.NoError(t, json.Unmarshal([]byte(pod.Annotations[kubelet.AddressesKey]), &addresses))
		response, err := http.Get("http://" + addresses["8080"])
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		all = append(all, string(body))
	}
	return all
}

// processesOf are the numbers of the processes of an application's pods, by the events that report their start.
func processesOf(t *testing.T, client kubernetes.Interface) (pids []int) {
	t.Helper()
	events, err := client.CoreV1().Events("default").List(
		t.Context(), metav1.ListOptions{FieldSelector: "reason=Started"})
	require.NoError(t, err)
	for _, event := range events.Items {
		var pid int
		if _, err := fmt.Sscanf(event.Message, "Started container main as process %d", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// requireEvent waits for an event of a pod whose message contains a text.
func requireEvent(t *testing.T, client kubernetes.Interface, reason, text string) {
	t.Helper()
	eventually(t, "an event says: "+text, func() bool {
		events, err := client.CoreV1().Events("default").List(
			t.Context(), metav1.ListOptions{FieldSelector: "reason=" + reason})
		require.NoError(t, err)
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return strings.Contains(e.Message, text) })
	})
}

func ended(pid int) bool { return syscall.Kill(pid, 0) != nil }

func TestPodsOfListedImagesRunAsProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := listPrograms(t, dir)
	server := startReady(t, dir, "--programs", list)
	client := server.client(t)
	create(t, client, deployment("web", serving("hello")))
	create(t, client, deployment("other", corev1.PodTemplateSpec{Spec: podSpec("nginx:1.27")}))
	withHostPath := serving("hello")
	withHostPath.Spec.Volumes = []corev1.Volume{{Name: "host", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: dir},
	}}}
	create(t, client, deployment("host", withHostPath))
	awaitAvailable(t, client, "web")
	awaitAvailable(t, client, "other")
	eventually(t, "all pods are bound", func() bool {
		pods := podsOf(t, client, "host")
		return len(pods) == 3 && !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Spec.NodeName == "" })
	})
	require.Equal(t, []string{"hello\n", "hello\n", "hello\n"}, greetings(t, client, "web"))
	for _, pod := range podsOf(t, client, "web") {
		require.Equal(t, "true", pod.Annotations[kubelet.LocalKey])
		require.NotContains(t, pod.Annotations, kubelet.SimulatedKey)
	}
	node, err := client.CoreV1().Nodes().Get(t.Context(), "embedded", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "this machine (pods run as processes, or are simulated)", node.Status.NodeInfo.OSImage)
	require.Equal(t, "LocalPods", node.Status.Conditions[0].Reason)
	for name, reason := range map[string]string{
		"other": "image nginx:1.27 is not one that runs as a process of this machine",
		"host":  "volume host is of the kind hostPath, which has no directory on this machine",
	} {
		requireEvent(t, client, "Scheduled", "simulated, because "+reason)
		for _, pod := range podsOf(t, client, name) {
			require.Equal(t, "true", pod.Annotations[kubelet.SimulatedKey])
			require.Equal(t, reason, pod.Annotations[kubelet.ReasonKey])
			require.NotContains(t, pod.Annotations, kubelet.LocalKey)
		}
	}

	logs, err := client.CoreV1().Pods("default").GetLogs(
		podsOf(t, client, "web")[0].Name, &corev1.PodLogOptions{},
	).DoRaw(t.Context())
	require.NoError(t, err)
	require.Equal(t, "serving\n", string(logs))

	victim := podsOf(t, client, "web")[0]
	require.NoError(t, client.CoreV1().Pods("default").Delete(t.Context(), victim.Name, metav1.DeleteOptions{}))
	eventually(t, "the pod is gone", func() bool {
		_, err := client.CoreV1().Pods("default").Get(t.Context(), victim.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	awaitAvailable(t, client, "web")
	require.NoDirExists(t, filepath.Join(dir, "data", "pods", string(victim.UID)))

	pids := processesOf(t, client)
	require.Len(t, pids, 4)
	require.NoError(t, server.command.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, server.awaitExit(t))
	for _, pid := range pids {
		require.True(t, ended(pid), "process %d outlives the cluster", pid)
	}
}

func TestPodsRunAgainAfterAKillOfTheCluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := listPrograms(t, dir)
	first := startReady(t, dir, "--programs", list)
	client := first.client(t)
	create(t, client, deployment("web", serving("again")))
	awaitAvailable(t, client, "web")
	pids := processesOf(t, client)
	require.Len(t, pids, 3)
	first.kill()

	second := startReady(t, dir, "--programs", list)
	client = second.client(t)
	for _, pid := range pids {
		eventually(t, "the process of before is ended", func() bool { return ended(pid) })
	}
	eventually(t, "each pod was started again", func() bool {
		for _, pod := range podsOf(t, client, "web") {
			status := pod.Status.ContainerStatuses[0]
			if status.RestartCount != 1 || !status.Ready || status.LastTerminationState.Terminated == nil {
				return false
			}
		}
		return true
	})
	require.Equal(t, []string{"again\n", "again\n", "again\n"}, greetings(t, client, "web"))
}

func TestAnotherProgramOnAPortOfAPodDoesNotAnswerForIt(t *testing.T) {
	t.Parallel()
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "not yours")
	}))
	t.Cleanup(foreign.Close)
	port := int32(foreign.Listener.Addr().(*net.TCPAddr).Port)
	dir := t.TempDir()
	server := startReady(t, dir, "--programs", listPrograms(t, dir))
	client := server.client(t)
	template := serving("hello")
	main := &template.Spec.Containers[0]
	main.Ports = append(main.Ports, corev1.ContainerPort{Name: "admin", ContainerPort: port})
	main.ReadinessProbe.HTTPGet = &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("admin")}
	create(t, client, deployment("web", template))
	says := fmt.Sprintf("port %d is in use by PID %d (", port, os.Getpid())
	requireEvent(t, client, "Unhealthy", "Readiness probe failed: "+says)
	requireEvent(t, client, "PortInUse", says)
	eventually(t, "the pods say so", func() bool {
		return !slices.ContainsFunc(podsOf(t, client, "web"), func(p corev1.Pod) bool {
			return !slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == kubelet.ListeningCondition && c.Status == corev1.ConditionFalse &&
					strings.Contains(c.Message, says)
			})
		})
	})
	for _, pod := range podsOf(t, client, "web") {
		require.False(t, pod.Status.ContainerStatuses[0].Ready)
	}
}
