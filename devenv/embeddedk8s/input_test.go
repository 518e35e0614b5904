// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubelet"
)

// attach does what kubectl attach -i does, until the container or the input ends.
func (p *process) attach(t *testing.T, pod, input string) string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	require.NoError(t, err)
	request := p.client(t).CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name(pod).
		SubResource("attach").VersionedParams(&corev1.PodAttachOptions{
		Container: "main", Stdin: true, Stdout: true,
	}, scheme.ParameterCodec)
	executor, err := remotecommand.NewSPDYExecutor(config, "POST", request.URL())
	require.NoError(t, err)
	var output bytes.Buffer
	require.NoError(t, executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{
		Stdin: strings.NewReader(input), Stdout: &output,
	}))
	return output.String()
}

func TestAContainerReadsWhatAttachSends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := startReady(t, dir, "--programs", listPrograms(t, dir))
	client := server.client(t)
	spec := podSpec(containerImage)
	spec.RestartPolicy = corev1.RestartPolicyNever
	main := &spec.Containers[0]
	main.Args = []string{"touch=$POD_ROOT/logs/started", "input"}
	main.Stdin, main.StdinOnce = true, true
	main.Env = []corev1.EnvVar{{Name: "SHARD", Value: "7"}}
	main.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
	main.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/logs", SubPathExpr: "shard-$(SHARD)"}}
	spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{},
	}}}
	pods := client.CoreV1().Pods("default")
	created, err := pods.Create(t.Context(),
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Spec: spec}, metav1.CreateOptions{})
	require.NoError(t, err)
	requireEvent(t, client, "LimitNotEnforced", "limits of processors do not bound processes of this machine")
	var now *corev1.Pod
	eventually(t, "the pod runs", func() bool {
		now, err = pods.Get(t.Context(), "reader", metav1.GetOptions{})
		require.NoError(t, err)
		return now.Status.Phase == corev1.PodRunning
	})
	require.Equal(t, "none", now.Annotations[kubelet.CPUKey])

	require.Equal(t, "got hello\ngot world\nthe input has ended\n", server.attach(t, "reader", "hello\nworld\n"))
	eventually(t, "the pod has succeeded", func() bool {
		now, err = pods.Get(t.Context(), "reader", metav1.GetOptions{})
		require.NoError(t, err)
		return now.Status.Phase == corev1.PodSucceeded
	})
	require.FileExists(t, filepath.Join(
		dir, "data", "pods", string(created.UID), "volumes", "data", "shard-7", "started"))
}
