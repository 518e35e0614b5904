// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/apiserver"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/cluster"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubelet"
)

// These tests run without the race detector: compiling kube-apiserver with it takes as long again as without, which is
// minutes.

// TestARunningCluster shares one server among its parts, which keep to objects of their own names.
func TestARunningCluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := startProcess(t, dir)

	early := server.await(t, cluster.EventKubeconfig)
	require.FileExists(t, server.kubeconfig, "others read it before the API answers")
	info, err := os.Stat(server.kubeconfig)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	ready := server.await(t, cluster.EventReady)
	require.Equal(t, early.Server, ready.Server)
	require.Positive(t, ready.Ms)
	server.await(t, cluster.EventControllers)
	client := server.client(t)

	t.Run("it reports the release it is made of", func(t *testing.T) {
		t.Parallel()
		version, err := client.Discovery().ServerVersion()
		require.NoError(t, err)
		require.Equal(t, apiserver.Version(), version.GitVersion)
		require.Regexp(t, `^v1\.\d+\.\d+$`, version.GitVersion)
	})
	t.Run("a Deployment becomes available", func(t *testing.T) {
		t.Parallel()
		create(t, client, deployment("web", corev1.PodTemplateSpec{Spec: podSpec("nginx:1.27")}))
		awaitAvailable(t, client, "web")
	})
	t.Run("pods are marked as simulated and have separate addresses", func(t *testing.T) {
		t.Parallel()
		create(t, client, deployment("addresses", corev1.PodTemplateSpec{Spec: podSpec("nginx:1.27")}))
		awaitAvailable(t, client, "addresses")
		seen := map[string]bool{}
		for _, pod := range podsOf(t, client, "addresses") {
			require.Equal(t, "true", pod.Annotations[kubelet.SimulatedKey])
			require.Regexp(t, `^10\.244\.`, pod.Status.PodIP)
			require.False(t, seen[pod.Status.PodIP], "address %s is given twice", pod.Status.PodIP)
			seen[pod.Status.PodIP] = true
		}
		require.Len(t, seen, 3)
	})
	t.Run("the pods of a Job succeed", func(t *testing.T) {
		t.Parallel()
		spec := podSpec("busybox:1.37")
		spec.RestartPolicy = corev1.RestartPolicyNever
		_, err := client.BatchV1().Jobs("default").Create(t.Context(), &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: "once"},
			Spec:       batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: spec}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		eventually(t, "the Job completes", func() bool {
			job, err := client.BatchV1().Jobs("default").Get(t.Context(), "once", metav1.GetOptions{})
			return err == nil && job.Status.Succeeded == 1
		})
	})
	t.Run("a deleted pod is gone at once and replaced", func(t *testing.T) {
		t.Parallel()
		create(t, client, deployment("replaced", corev1.PodTemplateSpec{Spec: podSpec("nginx:1.27")}))
		awaitAvailable(t, client, "replaced")
		victim := podsOf(t, client, "replaced")[0]
		require.NoError(t, client.CoreV1().Pods("default").Delete(t.Context(), victim.Name, metav1.DeleteOptions{}))
		eventually(t, "the pod is gone", func() bool {
			_, err := client.CoreV1().Pods("default").Get(t.Context(), victim.Name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
		awaitAvailable(t, client, "replaced")
	})
	t.Run("logs say that the pod is simulated", func(t *testing.T) {
		t.Parallel()
		create(t, client, deployment("logs", corev1.PodTemplateSpec{Spec: podSpec("nginx:1.27")}))
		awaitAvailable(t, client, "logs")
		stream, err := client.CoreV1().Pods("default").GetLogs(
			podsOf(t, client, "logs")[0].Name, &corev1.PodLogOptions{},
		).Stream(t.Context())
		require.NoError(t, err)
		defer stream.Close()
		text, err := io.ReadAll(stream)
		require.NoError(t, err)
		require.Contains(t, string(text), "This pod is simulated")
	})
	t.Run("its kinds and new ones have schemas", func(t *testing.T) { testOpenAPI(t, server, client) })
	t.Run("failures are simulated on request", func(t *testing.T) {
		t.Parallel()
		testSimulatedFailures(t, client)
	})
	t.Run("a second process on the same data is turned away with code 3", func(t *testing.T) {
		t.Parallel()
		second := startProcess(t, dir)
		require.Contains(t, second.await(t, "error").Error, "is used by process")
		require.Equal(t, 3, second.awaitExit(t))
	})
	t.Run("no one without a certificate gets in", func(t *testing.T) {
		t.Parallel()
		config, err := clientcmd.BuildConfigFromFlags("", server.kubeconfig)
		require.NoError(t, err)
		stranger, err := kubernetes.NewForConfig(rest.AnonymousClientConfig(config))
		require.NoError(t, err)
		_, err = stranger.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
		require.True(t, apierrors.IsForbidden(err), "%v", err)
	})
}

func TestAQuotaIsCountedAndWhatExceedsItIsRefused(t *testing.T) {
	t.Parallel()
	ctx, core := t.Context(), startReady(t, t.TempDir()).client(t).CoreV1()
	_, err := core.Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "bounded"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = core.ResourceQuotas("bounded").Create(ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	used := func(want int64) func() bool {
		return func() bool {
			quota, err := core.ResourceQuotas("bounded").Get(ctx, "pods", metav1.GetOptions{})
			pods, counted := quota.Status.Used[corev1.ResourcePods]
			return err == nil && counted && pods.Value() == want
		}
	}
	eventually(t, "the quota is counted", used(0))
	create := func(name string) error {
		_, err := core.Pods("bounded").Create(ctx,
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: podSpec("nginx:1.27")}, metav1.CreateOptions{})
		return err
	}
	eventually(t, "the namespace has its service account", func() bool { return create("one") == nil })
	eventually(t, "the pod is counted", used(1))
	require.True(t, apierrors.IsForbidden(create("two")))
	require.NoError(t, core.Pods("bounded").Delete(ctx, "one", metav1.DeleteOptions{}))
	eventually(t, "the pod is not counted any more", used(0))
	require.NoError(t, create("two"))
}

func testSimulatedFailures(t *testing.T, client kubernetes.Interface) {
	waiting := func(reasons ...string) func(corev1.Pod) bool {
		return func(pod corev1.Pod) bool {
			for _, status := range pod.Status.ContainerStatuses {
				for _, reason := range reasons {
					if status.State.Waiting != nil && status.State.Waiting.Reason == reason {
						return true
					}
				}
			}
			return false
		}
	}
	for name, test := range map[string]struct {
		image string
		mode  kubelet.Mode
		shown func(corev1.Pod) bool
	}{
		"annotated-pull": {
			image: "nginx:1.27", mode: kubelet.ImagePullError, shown: waiting("ErrImagePull", "ImagePullBackOff"),
		},
		"reserved-host": {image: "registry.invalid/app:v1", shown: waiting("ErrImagePull", "ImagePullBackOff")},
		"missing-tag":   {image: "nginx:does-not-exist", shown: waiting("ErrImagePull", "ImagePullBackOff")},
		"no-reference":  {image: "Not A Reference", shown: waiting("InvalidImageName")},
		"crash-loop":    {image: "nginx:1.27", mode: kubelet.CrashLoop, shown: waiting("CrashLoopBackOff")},
		"never-ready": {image: "nginx:1.27", mode: kubelet.NeverReady, shown: func(pod corev1.Pod) bool {
			return pod.Status.Phase == corev1.PodRunning && !pod.Status.ContainerStatuses[0].Ready
		}},
		"unschedulable": {image: "nginx:1.27", mode: kubelet.Unschedulable, shown: func(pod corev1.Pod) bool {
			return len(pod.Status.Conditions) > 0 && pod.Status.Conditions[0].Reason == corev1.PodReasonUnschedulable
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := corev1.PodTemplateSpec{Spec: podSpec(test.image)}
			if test.mode != kubelet.Healthy {
				template.Annotations = map[string]string{kubelet.ModeAnnotation: string(test.mode)}
			}
			create(t, client, deployment(name, template))
			eventually(t, "the pods show it", func() bool {
				pods := podsOf(t, client, name)
				for _, pod := range pods {
					if !test.shown(pod) {
						return false
					}
				}
				return len(pods) == 3
			})
		})
	}
}

func TestDataOutlivesAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := startReady(t, dir)
	client := first.client(t)
	create(t, client, deployment("kept", corev1.PodTemplateSpec{Spec: podSpec("nginx:1.27")}))
	awaitAvailable(t, client, "kept")
	before := podsOf(t, client, "kept")
	kubeconfig, err := os.ReadFile(first.kubeconfig)
	require.NoError(t, err)
	first.kill()

	second := startReady(t, dir)
	client = second.client(t)
	awaitAvailable(t, client, "kept")
	after := podsOf(t, client, "kept")
	require.Len(t, after, len(before))
	for i := range before {
		require.Equal(t, before[i].UID, after[i].UID)
		require.Equal(t, before[i].Status.PodIP, after[i].Status.PodIP)
	}
	again, err := os.ReadFile(second.kubeconfig)
	require.NoError(t, err)
	require.Equal(t, string(kubeconfig), string(again), "same port, same certificates")

	require.NoError(t, second.command.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, second.awaitExit(t))
}

func TestItStopsWhenStandardInputEnds(t *testing.T) {
	t.Parallel()
	server := startProcess(t, t.TempDir(), "--exit-with-stdin")
	server.await(t, cluster.EventReady)
	require.NoError(t, server.stdin.Close())
	server.await(t, cluster.EventStopping)
	require.Equal(t, 0, server.awaitExit(t))
}

func TestWrongUseIsToldWithCode2(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string][]string{
		"an unknown flag":         {"--no-such-flag"},
		"an argument":             {"up"},
		"a port out of range":     {"--secure-port", "70000"},
		"an impossible node name": {"--node-name", "Not_A_Name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.Equal(t, 2, startProcess(t, dir, arguments...).awaitExit(t))
			require.NoDirExists(t, filepath.Join(dir, "data"))
		})
	}
}

func podSpec(image string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}
}

func deployment(name string, template corev1.PodTemplateSpec) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	template.Labels = labels
	replicas := int32(3)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template,
		},
	}
}

func create(t *testing.T, client kubernetes.Interface, deployment *appsv1.Deployment) {
	t.Helper()
	_, err := client.AppsV1().Deployments("default").Create(t.Context(), deployment, metav1.CreateOptions{})
	require.NoError(t, err)
}

func awaitAvailable(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	eventually(t, "the Deployment is available", func() bool {
		deployment, err := client.AppsV1().Deployments("default").Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && deployment.Status.AvailableReplicas == 3
	})
}

func podsOf(t *testing.T, client kubernetes.Interface, name string) []corev1.Pod {
	t.Helper()
	pods, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + name})
	require.NoError(t, err)
	return pods.Items
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			require.FailNow(t, "not within "+patience.String()+": "+what)
		case <-ticker.C:
		}
	}
}
