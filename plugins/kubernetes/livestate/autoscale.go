// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	replicasPath = "spec.replicas"
	// controllerManager is the field manager of Kubernetes' own autoscaler, which writes to the scale subresource.
	controllerManager = "kube-controller-manager"
	scaleSubresource  = "scale"
)

// autoscaled names what the autoscalers of the application scale.
func autoscaled(places []place, live map[manifest.Key]*unstructured.Unstructured) map[manifest.Key]bool {
	scaled := map[manifest.Key]bool{}
	add := func(o *unstructured.Unstructured) {
		if target, ok := manifest.ScaleTarget(o); ok {
			scaled[target] = true
		}
	}
	for _, p := range places {
		add(p.manifest.Unstructured)
	}
	for _, o := range live {
		add(o)
	}
	return scaled
}

// scaledByController reports whether an autoscaler from elsewhere has set the number of replicas.
func scaledByController(o *unstructured.Unstructured) bool {
	for _, entry := range o.GetManagedFields() {
		if entry.Manager == controllerManager && entry.Subresource == scaleSubresource && owns(entry, o, replicasPath) {
			return true
		}
	}
	return false
}
