// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// withVolumes is a pod with a volume of each kind.
func withVolumes() *corev1.Pod {
	pod := newPodOf("volumes", "wait")
	named := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	mode, seconds := int32(0o400), int64(3607)
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: named("settings"),
		}}},
		{Name: "keys", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: "keys", DefaultMode: &mode, Items: []corev1.KeyToPath{{Key: "token", Path: "deep/token"}},
		}}},
		{Name: "about", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
			Items: []corev1.DownwardAPIVolumeFile{{
				Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"},
			}},
		}}},
		{Name: "all", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
					Path: "token", ExpirationSeconds: &seconds,
				}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: named("settings")}},
			},
		}}},
	}
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{
		{Name: "data", MountPath: "/data"}, {Name: "settings", MountPath: "/etc/app"},
		{Name: "keys", MountPath: "/etc/keys"}, {Name: "about", MountPath: "/about"}, {Name: "all", MountPath: "/all"},
		{Name: "data", MountPath: "/sub", SubPath: "below/here"},
	}
	return pod
}

func TestVolumesAreFoldersBelowTheRootOfTheContainer(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.objects.set("settings", map[string]string{"color": "blue"})
	c.objects.set("keys", map[string]string{"token": "s3cret", "other": "x"})
	pod := withVolumes()
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "the pod runs", isReady)
	inside, err := c.Inside(pod.UID, "main")
	require.NoError(t, err)
	for path, want := range map[string]string{
		"etc/app/color": "blue", "etc/keys/deep/token": "s3cret", "about/labels": `app="volumes"`,
		"all/token": "token-1", "all/color": "blue",
	} {
		content, err := os.ReadFile(filepath.Join(inside.Root, path))
		require.NoError(t, err)
		require.Equal(t, want, string(content), path)
	}
	require.NoFileExists(t, filepath.Join(inside.Root, "etc/keys/other"), "only the named key")
	info, err := os.Stat(filepath.Join(inside.Root, "etc/keys/deep/token"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o400), info.Mode().Perm())
	require.NoError(t, os.WriteFile(filepath.Join(inside.Root, "sub", "file"), nil, 0o600))
	require.FileExists(t, filepath.Join(inside.Root, "data/below/here/file"))

	c.objects.set("settings", map[string]string{"color": "green", "size": "7"})
	c.ObjectChanged("default")
	c.eventually(t, "the files follow the ConfigMap", func() bool {
		color, _ := os.ReadFile(filepath.Join(inside.Root, "etc/app/color"))
		size, _ := os.ReadFile(filepath.Join(inside.Root, "all/size"))
		return string(color) == "green" && string(size) == "7"
	})
	token, err := os.ReadFile(filepath.Join(inside.Root, "all/token"))
	require.NoError(t, err)
	require.Equal(t, "token-1", string(token), "it is young")
}

func TestAMountNamesAFolderOfItsVolumeByVariables(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("named", "wait")
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{},
	}}}
	main := &pod.Spec.Containers[0]
	main.Env = []corev1.EnvVar{{Name: "POD", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"},
	}}}
	main.VolumeMounts = []corev1.VolumeMount{
		{Name: "data", MountPath: "/data"}, {Name: "data", MountPath: "/logs", SubPathExpr: "logs/$(POD)"},
	}
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "it runs", isReady)
	inside, err := c.Inside(pod.UID, "main")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(inside.Root, "logs", "file"), nil, 0o600))
	require.FileExists(t, filepath.Join(inside.Root, "data/logs/named/file"))

	for expression, problem := range map[string]string{
		"$(MISSING)": "mount /logs: subPathExpr $(MISSING): there is no variable MISSING",
		"../$(POD)":  "mount /logs: subPathExpr ../wrong leaves the volume",
	} {
		wrong := pod.DeepCopy()
		wrong.Name, wrong.UID = "wrong", wrong.UID+types.UID(filepath.Base(expression))
		wrong.Spec.Containers[0].VolumeMounts[1].SubPathExpr = expression
		c.Run(wrong, "10.244.0.2")
		c.eventually(t, "an event says so", func() bool { return c.said(problem) })
		status, _ := c.Status(wrong.UID)
		require.Equal(t, reasonConfigError, status.Containers[0].State.Waiting.Reason)
	}
}

func TestAPodWaitsForAVolumeWhoseObjectIsMissing(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("early", "wait")
	pod.Spec.Volumes = []corev1.Volume{{Name: "settings", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "late"}},
	}}}
	c.Run(pod, "10.244.0.1")
	c.eventually(t, "an event says so", func() bool {
		return c.said(`FailedMount: MountVolume.SetUp failed for volume "settings": configmaps "late" not found`)
	})
	c.objects.set("late", map[string]string{"a": "b"})
	c.await(t, pod, "it runs", isReady)
}

func TestAPodWithAnotherKindOfVolumeDoesNotSuit(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	require.NoError(t, c.Suits(withVolumes()))
	pod := withVolumes()
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "host", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: "/"},
	}})
	require.ErrorContains(t, c.Suits(pod), "volume host is of the kind hostPath")
	pod = withVolumes()
	pod.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "busybox"}}
	require.ErrorContains(t, c.Suits(pod), "image busybox")
}
