// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// routingKinds decide which pods get traffic.
var routingKinds = []schema.GroupKind{
	{Kind: manifest.KindService},
	{Group: "networking.istio.io", Kind: config.KindVirtualService},
	{Group: "networking.istio.io", Kind: "DestinationRule"},
	{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"},
	{Group: "gateway.networking.k8s.io", Kind: "GRPCRoute"},
	{Group: "networking.k8s.io", Kind: manifest.KindIngress},
	{Group: "traefik.io", Kind: config.KindIngressRoute},
	{Group: "traefik.io", Kind: manifest.KindTraefikService},
}

// addsRoutes reports whether a method of routing adds objects to those of the manifests.
func addsRoutes(method string) bool {
	return method == config.MethodNginx || method == config.MethodTraefik
}

// addedByRouting reports whether a method of routing may have added an object of the canary.
func addedByRouting(key manifest.Key) bool {
	return key.Group == "networking.k8s.io" && key.Kind == manifest.KindIngress ||
		key.Group == "traefik.io" && key.Kind == manifest.KindTraefikService
}

// holdRoutes parts from the manifests what sends traffic to pods, where the failed deployment may have moved it away
// from the primary: that is to come back only when the primary is ready. What is not in the cluster cannot be left as
// it is, so it is not held.
func holdRoutes(ctx context.Context, req *Request, c *cluster.Client,
	manifests []manifest.Manifest) (first, routes []manifest.Manifest, err error) {
	moved, err := mayHaveRouted(ctx, req)
	if err != nil || !moved {
		return manifests, nil, err
	}
	for _, m := range manifests {
		held := slices.Contains(routingKinds, m.GroupVersionKind().GroupKind())
		if held {
			if held, err = isThere(ctx, c, m); err != nil {
				return nil, nil, err
			}
		}
		if held {
			routes = append(routes, m)
		} else {
			first = append(first, m)
		}
	}
	return first, routes, nil
}

// mayHaveRouted reports whether the deployment can have sent traffic to another variant: by the selector of a Service
// only when it is noted, by routes whenever its pipeline has a stage for that.
func mayHaveRouted(ctx context.Context, req *Request) (bool, error) {
	last, err := lastTrafficStage(req.Target)
	if err != nil || last < 0 {
		return false, nil // a pipeline that cannot be read has not run
	}
	app := &req.Target.App
	if app.TrafficRouting.Method != config.MethodPodSelector {
		return true, nil
	}
	value, found, err := routedKey(app).Get(ctx, req.Client)
	return found && string(value) != app.VariantLabel.PrimaryValue, err
}

func isThere(ctx context.Context, c *cluster.Client, m manifest.Manifest) (bool, error) {
	gvk := m.GroupVersionKind()
	mapping, err := c.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return false, nil // reported when it is applied
	}
	namespace := m.GetNamespace()
	if namespace == "" {
		namespace = c.Namespace
	}
	_, err = c.Metadata.Resource(mapping.Resource).Namespace(namespace).Get(ctx, m.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for %s: %w", m.Key().Human(), err)
	}
	return true, nil
}

// stillServing decides about a primary that did not get ready: with a pod ready in each of its workloads it is to have
// the traffic nevertheless, as the failed deployment is no better place for it. Else the error says that traffic was
// left alone.
func stillServing(ctx context.Context, req *Request, applied []apply.Applied, notReady error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("traffic is left where it was: %w", notReady)
	}
	for _, a := range applied {
		if !a.Manifest.IsWorkload() {
			continue
		}
		live, err := a.Resource.Get(ctx, a.Live.GetName(), metav1.GetOptions{})
		if err != nil || readyPods(live) == 0 {
			return fmt.Errorf("the primary is not ready, and %s has no ready pod, so traffic is left where it was "+
				"and the other variants are kept: fix what holds it, then deploy again: %w",
				manifest.KeyOf(a.Live).Human(), notReady)
		}
	}
	req.Log.Infof("The primary is not ready as a whole, but each of its workloads has a ready pod: traffic goes " +
		"back to it")
	return nil
}

// readyPods is the number of a workload's pods that are ready; one that wants none has enough.
func readyPods(live *unstructured.Unstructured) int64 {
	ready, wanted := []string{"status", "readyReplicas"}, []string{"spec", "replicas"}
	if live.GetKind() == manifest.KindDaemonSet {
		ready, wanted = []string{"status", "numberReady"}, []string{"status", "desiredNumberScheduled"}
	}
	if n, found, _ := unstructured.NestedInt64(live.Object, wanted...); found && n == 0 {
		return 1
	}
	n, _, _ := unstructured.NestedInt64(live.Object, ready...)
	return n
}
