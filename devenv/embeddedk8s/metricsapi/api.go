// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package metricsapi

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/usage"
)

// API serves the metrics of a cluster.
type API struct {
	meter *usage.Meter

	mu    sync.Mutex
	pods  corelisters.PodLister
	nodes corelisters.NodeLister
}

// New returns an API that answers that it is not ready until Attach.
func New(meter *usage.Meter) *API { return &API{meter: meter} }

// Attach says where the objects are whose use is measured.
func (a *API) Attach(pods corelisters.PodLister, nodes corelisters.NodeLister) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pods, a.nodes = pods, nodes
}

// measure returns what pods use, and the objects.
func (a *API) measure(ctx context.Context) (usage.Measurement, corelisters.PodLister, corelisters.NodeLister, error) {
	a.mu.Lock()
	pods, nodes := a.pods, a.nodes
	a.mu.Unlock()
	if pods == nil {
		return usage.Measurement{}, nil, nil, apierrors.NewServiceUnavailable("the cluster is starting")
	}
	measured, err := a.meter.Measure(ctx)
	if err != nil {
		err = apierrors.NewServiceUnavailable(err.Error())
	}
	return measured, pods, nodes, err
}

// Install adds the API to a server that does not serve yet.
func (a *API) Install(server *genericapiserver.GenericAPIServer) error {
	scheme := runtime.NewScheme()
	if err := metricsv1beta1.AddToScheme(scheme); err != nil {
		return fmt.Errorf("add metrics to the scheme: %w", err)
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	group := genericapiserver.NewDefaultAPIGroupInfo(metricsv1beta1.GroupName, scheme,
		runtime.NewParameterCodec(scheme), serializer.NewCodecFactory(scheme))
	group.PrioritizedVersions = []schema.GroupVersion{metricsv1beta1.SchemeGroupVersion}
	group.VersionedResourcesStorageMap[metricsv1beta1.SchemeGroupVersion.Version] = map[string]rest.Storage{
		"pods": podMetrics{a, converter("pods")}, "nodes": nodeMetrics{a, converter("nodes")},
	}
	if err := server.InstallAPIGroup(&group); err != nil {
		return fmt.Errorf("serve the metrics API: %w", err)
	}
	return nil
}

func converter(name string) rest.TableConvertor {
	return rest.NewDefaultTableConvertor(metricsv1beta1.Resource(name))
}

// Register has the API listed in /apis. The server answers for it itself, so that it names no Service.
func Register(ctx context.Context, client kubernetes.Interface) error {
	version := metricsv1beta1.SchemeGroupVersion
	object, err := json.Marshal(map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": version.Version + "." + version.Group},
		"spec": map[string]any{
			"group": version.Group, "version": version.Version, "groupPriorityMinimum": 100, "versionPriority": 100,
		},
	})
	if err != nil {
		return err
	}
	err = client.Discovery().RESTClient().Post().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices").
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(object).Do(ctx).Error()
	if err != nil && !apierrors.IsAlreadyExists(err) && ctx.Err() == nil {
		return fmt.Errorf("register the metrics API: %w", err)
	}
	return nil
}

// amounts are what a container, a pod or a node uses, as the API has it.
func amounts(of usage.Container) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(of.CPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(of.Memory, resource.BinarySI),
	}
}
