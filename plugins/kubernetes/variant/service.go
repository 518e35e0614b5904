// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// copyService makes a Service inside of the cluster that selects only the variant's pods.
func copyService(found manifest.Manifest, suffix, key, value string) (manifest.Manifest, error) {
	m := found.Clone()
	m.SetName(withSuffix(m.GetName(), suffix))
	manifest.RemoveExclusion(m)
	spec, ok := m.Object["spec"].(map[string]any)
	if !ok {
		return manifest.Manifest{}, fmt.Errorf("%s: %s has no spec", m.Origin, m.Key().Human())
	}
	headless := spec["clusterIP"] == headlessIP
	// Addresses and ports that belong to the original alone.
	for _, field := range []string{
		"clusterIP", "clusterIPs", "externalIPs", "loadBalancerIP", "loadBalancerClass", "loadBalancerSourceRanges",
		"externalName",
		"externalTrafficPolicy", "healthCheckNodePort", "allocateLoadBalancerNodePorts",
	} {
		delete(spec, field)
	}
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		if port, ok := p.(map[string]any); ok {
			delete(port, "nodePort")
		}
	}
	spec["type"] = "ClusterIP"
	if headless {
		spec["clusterIP"] = headlessIP
	}
	if err := unstructured.SetNestedField(spec, value, "selector", key); err != nil {
		return manifest.Manifest{}, fmt.Errorf("%s: selector of %s: %w", m.Origin, m.Key().Human(), err)
	}
	return m, nil
}

// headlessIP is the address of a Service that stands for its pods' own addresses.
const headlessIP = "None"

func withSuffix(name, suffix string) string {
	if suffix == "" {
		return name
	}
	return name + "-" + suffix
}
