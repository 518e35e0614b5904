// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubelet"
)

// claim creates a claim of a storage class; empty for none, which means the default one.
func claim(t *testing.T, client kubernetes.Interface, name, class string) {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
	if class != "" {
		claim.Spec.StorageClassName = &class
	}
	_, err := client.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), claim, metav1.CreateOptions{})
	require.NoError(t, err)
}

func claimNow(t *testing.T, client kubernetes.Interface, name string) *corev1.PersistentVolumeClaim {
	t.Helper()
	claim, err := client.CoreV1().PersistentVolumeClaims("default").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return claim
}

// withClaim is a pod that writes its name to a file of a claim, prints the file, and serves.
func withClaim(pod, claim string) *corev1.Pod {
	spec := serving("hello").Spec
	spec.Containers[0].Args = []string{"append=$POD_ROOT/data/log:" + pod, "cat=$POD_ROOT/data/log", "serve"}
	spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}}}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}, Spec: spec}
}

// runWith creates a pod that writes a line to a file of a claim and prints the file; it returns the pod's log once it
// serves.
func runWith(t *testing.T, client kubernetes.Interface, pod, claim string) string {
	t.Helper()
	pods := client.CoreV1().Pods("default")
	_, err := pods.Create(t.Context(), withClaim(pod, claim), metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, pod+" is ready", func() bool {
		now, err := pods.Get(t.Context(), pod, metav1.GetOptions{})
		require.NoError(t, err)
		require.NotContains(t, now.Annotations, kubelet.SimulatedKey)
		return slices.ContainsFunc(now.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
	})
	log, err := pods.GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(t.Context())
	require.NoError(t, err)
	return string(log)
}

func TestAClaimIsADirectoryThatOutlivesItsPodsAndGoesWithItUnlessAPodUsesIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := startReady(t, dir, "--programs", listPrograms(t, dir))
	client := server.client(t)
	claim(t, client, "data", "")
	claim(t, client, "fast", "fast-disks")
	requireEvent(t, client, "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
	requireEvent(t, client, "ProvisioningFailed", `storage class "fast-disks" is not here`)
	require.Equal(t, corev1.ClaimPending, claimNow(t, client, "data").Status.Phase)

	require.True(t, strings.HasPrefix(runWith(t, client, "one", "data"), "one\n"))
	data := claimNow(t, client, "data")
	require.Equal(t, corev1.ClaimBound, data.Status.Phase)
	require.Equal(t, "1Gi", data.Status.Capacity.Storage().String())
	require.Equal(t, "standard", *data.Spec.StorageClassName)
	volume, err := client.CoreV1().PersistentVolumes().Get(t.Context(), data.Spec.VolumeName, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.VolumeBound, volume.Status.Phase)
	require.Equal(t, filepath.Join(dir, "data", "volumes", volume.Name), volume.Spec.HostPath.Path)
	require.FileExists(t, filepath.Join(volume.Spec.HostPath.Path, "log"))

	require.NoError(t, client.CoreV1().Pods("default").Delete(t.Context(), "one", metav1.DeleteOptions{}))
	require.True(t, strings.HasPrefix(runWith(t, client, "two", "data"), "one\ntwo\n"), "the file is still there")

	require.NoError(t, client.CoreV1().PersistentVolumeClaims("default").Delete(
		t.Context(), "data", metav1.DeleteOptions{}))
	requireEvent(t, client, "InUse", "the claim is deleted once pod two is gone")
	require.NotNil(t, claimNow(t, client, "data").DeletionTimestamp)
	require.FileExists(t, filepath.Join(volume.Spec.HostPath.Path, "log"))
	late := withClaim("late", "data")
	_, err = client.CoreV1().Pods("default").Create(t.Context(), late, metav1.CreateOptions{})
	require.NoError(t, err)
	requireEvent(t, client, "FailedScheduling", `persistentvolumeclaim "data" is being deleted`)
	require.NoError(t, client.CoreV1().Pods("default").Delete(t.Context(), "two", metav1.DeleteOptions{}))
	eventually(t, "the volume goes with the claim", func() bool {
		_, err := client.CoreV1().PersistentVolumes().Get(t.Context(), volume.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	eventually(t, "and so does its directory", func() bool {
		left, err := filepath.Glob(filepath.Join(dir, "data", "volumes", "*"))
		require.NoError(t, err)
		return len(left) == 0
	})
	require.Equal(t, corev1.ClaimPending, claimNow(t, client, "fast").Status.Phase)
}
