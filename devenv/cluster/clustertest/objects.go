// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// reasonUnknownImage is what a kubelet says of an image that it has not and may not pull.
const reasonUnknownImage = "ErrImageNeverPull"

func connect(t *testing.T, kubeconfig string) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

func requireReadyNode(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, node := range nodes.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				return
			}
		}
	}
	require.FailNow(t, "no node is ready")
}

func keep(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	_, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// imageArchive is an image that no registry has.
func imageArchive(t *testing.T) (archive, reference string) {
	t.Helper()
	tag, err := name.NewTag("pipedeck.test/suite:v1")
	require.NoError(t, err)
	image, err := random.Image(1024, 1)
	require.NoError(t, err)
	archive = filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, tarball.WriteToFile(archive, tag, image))
	return archive, tag.String()
}

// requireImageKnown has a pod that may not pull. What the image does then is not of interest.
func requireImageKnown(t *testing.T, client kubernetes.Interface, reference string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	pods := client.CoreV1().Pods(metav1.NamespaceDefault)
	no := false
	wanted := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "image"},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: &no,
			Containers: []corev1.Container{{Name: "image", Image: reference,
				ImagePullPolicy: corev1.PullNever, Command: []string{"/none"}}},
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		},
	}
	// The namespace's service account is made a moment after the node is ready.
	var made *corev1.Pod
	require.Eventually(t, func() (ok bool) {
		var err error
		made, err = pods.Create(ctx, wanted, metav1.CreateOptions{})
		return err == nil
	}, patience, 50*time.Millisecond)
	watcher, err := pods.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=image",
		ResourceVersion: made.ResourceVersion})
	require.NoError(t, err)
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			continue
		}
		for _, status := range pod.Status.ContainerStatuses {
			waiting := status.State.Waiting
			require.False(t, waiting != nil && waiting.Reason == reasonUnknownImage, "the node does not know the image")
			if waiting == nil || waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing" {
				return
			}
		}
	}
	require.FailNow(t, "the pod of the image came to no end", time.Now())
}
