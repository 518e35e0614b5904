// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// autoscale creates an autoscaler of a Deployment that keeps the use of processors at half of what its pods request.
func autoscale(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	half, atOnce := int32(50), int32(0)
	_, err := client.AutoscalingV2().HorizontalPodAutoscalers("default").Create(t.Context(),
		&autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
					APIVersion: "apps/v1", Kind: "Deployment", Name: name,
				},
				MaxReplicas: 4,
				Metrics: []autoscalingv2.MetricSpec{{
					Type: autoscalingv2.ResourceMetricSourceType,
					Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU,
						Target: autoscalingv2.MetricTarget{
							Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &half,
						},
					},
				}},
				Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{
					ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: &atOnce},
				},
			},
		}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// podMetrics asks the metrics API for the pods of an application, as kubectl top pods does.
func podMetrics(t *testing.T, client kubernetes.Interface, name string) []metricsv1beta1.PodMetrics {
	t.Helper()
	answer, err := client.Discovery().RESTClient().Get().
		AbsPath("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods").Param("labelSelector", "app="+name).
		DoRaw(t.Context())
	require.NoError(t, err, string(answer))
	var list metricsv1beta1.PodMetricsList
	require.NoError(t, json.Unmarshal(answer, &list))
	return list.Items
}

func TestADeploymentOfProcessesIsScaledByItsUseOfProcessors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := startReady(t, dir, "--programs", listPrograms(t, dir))
	client := server.client(t)
	load := filepath.Join(dir, "load")
	require.NoError(t, os.WriteFile(load, nil, 0o600))
	template := serving("hello")
	template.Spec.Containers[0].Args = []string{"work=" + load, "serve"}
	template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m")}
	create(t, client, deployment("web", template))
	autoscale(t, client, "web")
	simulated := corev1.PodTemplateSpec{Spec: podSpec("nginx:1.27")}
	simulated.Spec.Containers[0].Resources.Requests = template.Spec.Containers[0].Resources.Requests
	create(t, client, deployment("other", simulated))
	autoscale(t, client, "other")

	awaitAvailable(t, client, "web")
	eventually(t, "the metrics API knows the pods", func() bool { return len(podMetrics(t, client, "web")) == 3 })
	for _, pod := range podMetrics(t, client, "web") {
		require.Equal(t, "main", pod.Containers[0].Name)
		require.Positive(t, pod.Containers[0].Usage.Memory().Value())
		require.Greater(t, pod.Containers[0].Usage.Cpu().MilliValue(), int64(50), "of about 400")
	}
	require.Empty(t, podMetrics(t, client, "other"))
	node, err := client.Discovery().RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/nodes/embedded").
		DoRaw(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(node), `"cpu"`)
	groups, err := client.Discovery().ServerGroups()
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool {
		return g.Name == metricsv1beta1.GroupName
	}), "kubectl top looks for the group")

	replicas := func(name string) int32 {
		now, err := client.AppsV1().Deployments("default").Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		return *now.Spec.Replicas
	}
	eventually(t, "the Deployment grows while it works", func() bool { return replicas("web") == 4 })
	require.NoError(t, os.Remove(load))
	eventually(t, "the Deployment shrinks when it rests", func() bool { return replicas("web") == 1 })

	eventually(t, "the autoscaler of simulated pods says why it does nothing", func() bool {
		now, err := client.AutoscalingV2().HorizontalPodAutoscalers("default").Get(
			t.Context(), "other", metav1.GetOptions{})
		require.NoError(t, err)
		return slices.ContainsFunc(now.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
			return c.Type == autoscalingv2.ScalingActive && c.Status == corev1.ConditionFalse &&
				strings.Contains(c.Message, "its pods are simulated: they run no process whose use could be measured")
		})
	})
	require.EqualValues(t, 3, replicas("other"))
}
