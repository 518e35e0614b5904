// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package metricsapi

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	corelisters "k8s.io/client-go/listers/core/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/usage"
)

// nodeMetrics serves the metrics of nodes: what their pods use together.
type nodeMetrics struct {
	api *API
	rest.TableConvertor
}

var (
	_ rest.Getter               = nodeMetrics{}
	_ rest.Lister               = nodeMetrics{}
	_ rest.Scoper               = nodeMetrics{}
	_ rest.SingularNameProvider = nodeMetrics{}
)

// New implements rest.Storage.
func (nodeMetrics) New() runtime.Object { return &metricsv1beta1.NodeMetrics{} }

// NewList implements rest.Lister.
func (nodeMetrics) NewList() runtime.Object { return &metricsv1beta1.NodeMetricsList{} }

// Destroy implements rest.Storage.
func (nodeMetrics) Destroy() {}

// NamespaceScoped implements rest.Scoper.
func (nodeMetrics) NamespaceScoped() bool { return false }

// GetSingularName implements rest.SingularNameProvider.
func (nodeMetrics) GetSingularName() string { return "" }

// Get implements rest.Getter.
func (s nodeMetrics) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	measured, pods, nodes, err := s.api.measure(ctx)
	if err != nil {
		return nil, err
	}
	node, err := nodes.Get(name)
	if err != nil {
		return nil, apierrors.NewNotFound(metricsv1beta1.Resource("nodemetrics"), name)
	}
	metrics, err := metricsOfNode(node, pods, measured)
	return &metrics, err
}

// List implements rest.Lister.
func (s nodeMetrics) List(ctx context.Context, options *internalversion.ListOptions) (runtime.Object, error) {
	measured, pods, nodes, err := s.api.measure(ctx)
	if err != nil {
		return nil, err
	}
	byLabel, byField := selectorsOf(options)
	found, err := nodes.List(byLabel)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	list := &metricsv1beta1.NodeMetricsList{Items: []metricsv1beta1.NodeMetrics{}}
	for _, node := range found {
		if !byField.Matches(fields.Set{"metadata.name": node.Name}) {
			continue
		}
		metrics, err := metricsOfNode(node, pods, measured)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, metrics)
	}
	return list, nil
}

func metricsOfNode(
	node *corev1.Node, pods corelisters.PodLister, measured usage.Measurement,
) (metricsv1beta1.NodeMetrics, error) {
	all, err := pods.List(labels.Everything())
	if err != nil {
		return metricsv1beta1.NodeMetrics{}, apierrors.NewInternalError(err)
	}
	metrics := metricsv1beta1.NodeMetrics{
		ObjectMeta: metav1.ObjectMeta{
			Name: node.Name, Labels: node.Labels, CreationTimestamp: metav1.NewTime(measured.At),
		},
		Timestamp: metav1.NewTime(measured.At),
	}
	var sum usage.Container
	for _, pod := range all {
		used, ok := measured.Pods[nameOf(pod)]
		if !ok || pod.Spec.NodeName != node.Name {
			continue
		}
		total := used.Total()
		sum.CPU += total.CPU
		sum.Memory += total.Memory
		if metrics.Window.Duration == 0 || used.Window < metrics.Window.Duration {
			metrics.Window.Duration = used.Window
		}
	}
	metrics.Usage = amounts(sum)
	return metrics, nil
}
