// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package metricsapi

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubelet"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/usage"
)

// podMetrics serves the metrics of pods.
type podMetrics struct {
	api *API
	rest.TableConvertor
}

var (
	_ rest.Getter               = podMetrics{}
	_ rest.Lister               = podMetrics{}
	_ rest.Scoper               = podMetrics{}
	_ rest.SingularNameProvider = podMetrics{}
)

// New implements rest.Storage.
func (podMetrics) New() runtime.Object { return &metricsv1beta1.PodMetrics{} }

// NewList implements rest.Lister.
func (podMetrics) NewList() runtime.Object { return &metricsv1beta1.PodMetricsList{} }

// Destroy implements rest.Storage.
func (podMetrics) Destroy() {}

// NamespaceScoped implements rest.Scoper.
func (podMetrics) NamespaceScoped() bool { return true }

// GetSingularName implements rest.SingularNameProvider.
func (podMetrics) GetSingularName() string { return "" }

// Get implements rest.Getter. A pod that is simulated has no metrics, which the error says.
func (s podMetrics) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	measured, pods, _, err := s.api.measure(ctx)
	if err != nil {
		return nil, err
	}
	pod, err := pods.Pods(genericapirequest.NamespaceValue(ctx)).Get(name)
	if err != nil {
		return nil, apierrors.NewNotFound(metricsv1beta1.Resource("podmetrics"), name)
	}
	used, ok := measured.Pods[nameOf(pod)]
	switch {
	case ok:
		metrics := metricsOf(pod, used, measured.At)
		return &metrics, nil
	case pod.Annotations[kubelet.SimulatedKey] == "true":
		return nil, apierrors.NewServiceUnavailable("pod " + name +
			" is simulated: it runs no process whose use could be measured")
	}
	return nil, apierrors.NewServiceUnavailable("pod " + name + " has run for less than a second, or runs no more")
}

// List implements rest.Lister.
func (s podMetrics) List(ctx context.Context, options *internalversion.ListOptions) (runtime.Object, error) {
	measured, pods, _, err := s.api.measure(ctx)
	if err != nil {
		return nil, err
	}
	byLabel, byField := selectorsOf(options)
	found, err := pods.Pods(genericapirequest.NamespaceValue(ctx)).List(byLabel)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	list := &metricsv1beta1.PodMetricsList{Items: []metricsv1beta1.PodMetrics{}}
	for _, pod := range found {
		used, ok := measured.Pods[nameOf(pod)]
		if ok && byField.Matches(fields.Set{"metadata.name": pod.Name, "metadata.namespace": pod.Namespace}) {
			list.Items = append(list.Items, metricsOf(pod, used, measured.At))
		}
	}
	return list, nil
}

func nameOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

func selectorsOf(options *internalversion.ListOptions) (labels.Selector, fields.Selector) {
	byLabel, byField := labels.Everything(), fields.Everything()
	if options != nil && options.LabelSelector != nil {
		byLabel = options.LabelSelector
	}
	if options != nil && options.FieldSelector != nil {
		byField = options.FieldSelector
	}
	return byLabel, byField
}

func metricsOf(pod *corev1.Pod, used usage.Pod, at time.Time) metricsv1beta1.PodMetrics {
	metrics := metricsv1beta1.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, Labels: pod.Labels, CreationTimestamp: metav1.NewTime(at),
		},
		Timestamp: metav1.NewTime(at), Window: metav1.Duration{Duration: used.Window},
	}
	for _, name := range slices.Sorted(maps.Keys(used.Containers)) {
		metrics.Containers = append(metrics.Containers,
			metricsv1beta1.ContainerMetrics{Name: name, Usage: amounts(used.Containers[name])})
	}
	return metrics
}
