// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/scale"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubelet"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/usage"
)

const (
	// autoscalerPeriod is the time between two looks at an autoscaler; kube-controller-manager takes 15 seconds.
	// Nothing is looked at while there is none.
	autoscalerPeriod = 5 * time.Second
	// kube-controller-manager's defaults.
	downscaleStabilization = 5 * time.Minute
	autoscalerTolerance    = 0.1
	cpuInitialization      = 5 * time.Minute
	initialReadiness       = 30 * time.Second
)

func (m *maker) scales() (scale.ScalesGetter, error) {
	scales, err := scale.NewForConfig(m.config.Client, m.kinds.mapper, dynamic.LegacyAPIPathResolverFunc,
		scale.NewDiscoveryScaleKindResolver(m.kinds))
	if err != nil {
		return nil, fmt.Errorf("create scale client: %w", err)
	}
	return scales, nil
}

func (m *maker) autoscaling(ctx context.Context) ([]loop, error) {
	scales, err := m.scales()
	if err != nil {
		return nil, err
	}
	pods := m.informers.Core().V1().Pods()
	autoscalers := podautoscaler.NewHorizontalController(ctx, m.client.CoreV1(), scales, m.client.AutoscalingV2(),
		m.kinds.mapper, podUse{m.config.Meter, pods.Lister()},
		m.informers.Autoscaling().V2().HorizontalPodAutoscalers(), pods, autoscalerPeriod, downscaleStabilization,
		autoscalerTolerance, cpuInitialization, initialReadiness)
	return []loop{{"horizontal-pod-autoscaler", func(ctx context.Context) { autoscalers.Run(ctx, workers) }}}, nil
}

// podUse gives autoscalers what pods use that run as processes.
type podUse struct {
	meter *usage.Meter
	pods  corelisters.PodLister
}

var _ metrics.MetricsClient = podUse{}

// errOtherMetrics is the answer to autoscalers that ask for more than processors and memory.
var errOtherMetrics = errors.New("this cluster has metrics of the type Resource and ContainerResource only")

// GetResourceMetric implements metrics.MetricsClient. Processors are in thousandths, memory is in thousandths of a
// byte.
func (u podUse) GetResourceMetric(
	ctx context.Context, resource corev1.ResourceName, namespace string, selector labels.Selector, container string,
) (metrics.PodMetricsInfo, time.Time, error) {
	if resource != corev1.ResourceCPU && resource != corev1.ResourceMemory {
		return nil, time.Time{}, fmt.Errorf("the use of %s is not measured: only that of processors and memory is",
			resource)
	}
	measured, err := u.meter.Measure(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	pods, err := u.pods.Pods(namespace).List(selector)
	if err != nil {
		return nil, time.Time{}, err
	}
	info, simulated := metrics.PodMetricsInfo{}, 0
	for _, pod := range pods {
		if pod.Annotations[kubelet.SimulatedKey] == "true" {
			simulated++
		}
		used, ok := measured.Pods[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}]
		if !ok {
			continue
		}
		of, known := used.Total(), true
		if container != "" {
			of, known = used.Containers[container]
		}
		if !known {
			continue
		}
		value := of.CPU
		if resource == corev1.ResourceMemory {
			value = of.Memory * 1000
		}
		info[pod.Name] = metrics.PodMetric{Timestamp: measured.At, Window: used.Window, Value: value}
	}
	switch {
	case len(info) > 0:
		return info, measured.At, nil
	case simulated > 0 && simulated == len(pods):
		return nil, time.Time{}, errors.New("its pods are simulated: they run no process whose use could be measured")
	}
	return nil, time.Time{}, errors.New("none of its pods has run for a second")
}

// GetRawMetric implements metrics.MetricsClient.
func (podUse) GetRawMetric(
	string, string, labels.Selector, labels.Selector,
) (metrics.PodMetricsInfo, time.Time, error) {
	return nil, time.Time{}, errOtherMetrics
}

// GetObjectMetric implements metrics.MetricsClient.
func (podUse) GetObjectMetric(
	string, string, *autoscalingv2.CrossVersionObjectReference, labels.Selector,
) (int64, time.Time, error) {
	return 0, time.Time{}, errOtherMetrics
}

// GetExternalMetric implements metrics.MetricsClient.
func (podUse) GetExternalMetric(string, string, labels.Selector) ([]int64, time.Time, error) {
	return nil, time.Time{}, errOtherMetrics
}
