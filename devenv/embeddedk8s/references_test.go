// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// refersTo are specs of pods that refer to something that is not there, by what their status says of it: the reason
// and the message of the container, or those of the condition PodScheduled.
var refersTo = map[string]struct {
	reason, message string
	change          func(*corev1.PodSpec)
}{
	"volume of a ConfigMap": {"ContainerCreating", `configmap "late" not found`, func(spec *corev1.PodSpec) {
		spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named("late")},
		}}}
	}},
	"key of a projected Secret": {
		"ContainerCreating", "couldn't find key late in Secret default/there", func(spec *corev1.PodSpec) {
			spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
					Secret: &corev1.SecretProjection{
						LocalObjectReference: named("there"), Items: []corev1.KeyToPath{{Key: "late", Path: "p"}},
					},
				}}},
			}}}
		},
	},
	"variables of a Secret": {
		"CreateContainerConfigError", `secret "late" not found`, func(spec *corev1.PodSpec) {
			spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{
				SecretRef: &corev1.SecretEnvSource{LocalObjectReference: named("late")},
			}}
		},
	},
	"key of a ConfigMap": {
		"CreateContainerConfigError", "couldn't find key late in ConfigMap default/there",
		func(spec *corev1.PodSpec) {
			spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{
				ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: named("there"), Key: "late"},
			}}}
		},
	},
	"claim": {"Unschedulable", `persistentvolumeclaim "late" not found`, func(spec *corev1.PodSpec) {
		spec.Volumes = []corev1.Volume{claimed("late")}
	}},
	"claim of a storage class": {
		"Unschedulable", `storage class "fast-disks" is not here`,
		func(spec *corev1.PodSpec) { spec.Volumes = []corev1.Volume{claimed("fast")} },
	},
	"processors": {"Unschedulable", "Insufficient cpu", func(spec *corev1.PodSpec) {
		spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000")}
	}},
}

func named(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }

func claimed(name string) corev1.Volume {
	return corev1.Volume{Name: "c", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}}
}

// createPod creates a simulated pod.
func createPod(t *testing.T, client kubernetes.Interface, name string, change func(*corev1.PodSpec)) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: podSpec("nginx:1.27")}
	change(&pod.Spec)
	_, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
}

func podNow(t *testing.T, client kubernetes.Interface, name string) *corev1.Pod {
	t.Helper()
	pod, err := client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return pod
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// waitsFor is the reason and the message with which a pod waits.
func waitsFor(pod *corev1.Pod) (reason, message string) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return condition.Reason, condition.Message
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.State.Waiting != nil {
			return status.State.Waiting.Reason, status.State.Waiting.Message
		}
	}
	return "", ""
}

func TestASimulatedPodWaitsForWhatItRefersTo(t *testing.T) {
	t.Parallel()
	client := startReady(t, t.TempDir()).client(t)
	configs, secrets := client.CoreV1().ConfigMaps("default"), client.CoreV1().Secrets("default")
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "there"}}
	_, err := configs.Create(t.Context(), config, metav1.CreateOptions{})
	require.NoError(t, err)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "there"}}
	_, err = secrets.Create(t.Context(), secret, metav1.CreateOptions{})
	require.NoError(t, err)
	claim(t, client, "fast", "fast-disks")
	claim(t, client, "standard", "")
	name := func(what string) string { return strings.ToLower(strings.ReplaceAll(what, " ", "-")) }
	for what, want := range refersTo {
		createPod(t, client, name(what), want.change)
	}
	yes := true
	createPod(t, client, "optional", func(spec *corev1.PodSpec) {
		spec.Volumes = []corev1.Volume{claimed("standard"), {Name: "v", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named("late"), Optional: &yes},
		}}}
		spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{
			SecretRef: &corev1.SecretEnvSource{LocalObjectReference: named("late"), Optional: &yes},
		}}
	})
	for what, want := range refersTo {
		eventually(t, what+" is waited for", func() bool {
			reason, message := waitsFor(podNow(t, client, name(what)))
			return reason == want.reason && strings.Contains(message, want.message)
		})
	}
	eventually(t, "what is optional is not waited for", func() bool { return isReady(podNow(t, client, "optional")) })
	requireEvent(t, client, "FailedMount", `MountVolume.SetUp failed for volume "v": configmap "late" not found`)
	requireEvent(t, client, "Failed", `Error: secret "late" not found`)
	requireEvent(t, client, "FailedScheduling", `persistentvolumeclaim "late" not found`)
	for what := range refersTo {
		pod := podNow(t, client, name(what))
		require.Equal(t, corev1.PodPending, pod.Status.Phase, what)
		require.False(t, isReady(pod), what)
	}

	config.Data, secret.Data = map[string]string{"late": "x"}, map[string][]byte{"late": []byte("x")}
	_, err = configs.Update(t.Context(), config, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = secrets.Update(t.Context(), secret, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = configs.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}},
		metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "late"}},
		metav1.CreateOptions{})
	require.NoError(t, err)
	claim(t, client, "late", "")
	for what := range refersTo {
		if what == "processors" || what == "claim of a storage class" {
			continue
		}
		eventually(t, "it is ready once it has: "+what, func() bool { return isReady(podNow(t, client, name(what))) })
	}
	for _, what := range []string{"processors", "claim of a storage class"} {
		require.False(t, isReady(podNow(t, client, name(what))), what)
	}
}
