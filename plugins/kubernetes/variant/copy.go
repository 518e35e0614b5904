// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// copying says how workloads are copied into a variant.
type copying struct {
	// what the copy is, in words.
	what, suffix string
	// key and value are the variant's label.
	key, value    string
	replicas      *config.Replicas
	createService bool
	// renamed are the new names of ConfigMaps and Secrets that are copied, too.
	renamed map[manifest.Key]string
}

// copyAll returns the Services of the copies, then the copies. ref is the Service that createService copies.
func (c copying) copyAll(manifests, workloads []manifest.Manifest,
	ref config.Reference) (services, copies []manifest.Manifest, err error) {
	if c.createService {
		found, err := service(manifests, ref)
		if err != nil {
			return nil, nil, fmt.Errorf("createService: %w", err)
		}
		s, err := copyService(found, c.suffix, c.key, c.value)
		if err != nil {
			return nil, nil, err
		}
		services = append(services, s)
	}
	for _, m := range workloads {
		copied, err := c.workload(m)
		if err != nil {
			return nil, nil, err
		}
		governing, err := c.govern(copied, manifests)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range governing {
			if !slices.ContainsFunc(services, func(other manifest.Manifest) bool { return other.Key() == s.Key() }) {
				services = append(services, s)
			}
		}
		copies = append(copies, copied)
	}
	return services, copies, nil
}

// workload copies a Deployment or a StatefulSet under a new name, with its own pods, volumes and configuration.
func (c copying) workload(m manifest.Manifest) (manifest.Manifest, error) {
	switch {
	case m.Is(manifest.KindDaemonSet):
		return m, fmt.Errorf("%s: %s cannot have a %s: a DaemonSet runs on every node, so a copy of it would run "+
			"next to the primary everywhere and not on a share; "+
			"take it out of `workloads`, then it is rolled out with the primary, node by node as its "+
			"updateStrategy says", m.Origin, m.Key().Human(), c.what)
	case !m.Is(manifest.KindDeployment) && !m.Is(manifest.KindStatefulSet):
		return m, fmt.Errorf("%s: %s cannot have a %s: only Deployments and StatefulSets can; take it out of "+
			"`workloads`", m.Origin, m.Key().Human(), c.what)
	}
	primary, found, err := unstructured.NestedInt64(m.Object, "spec", "replicas")
	if err != nil {
		return m, fmt.Errorf("%s: spec.replicas of %s is not a whole number", m.Origin.At("spec.replicas"),
			m.Key().Human())
	}
	if !found {
		primary = 1 // what the API fills in
	}
	copied := m.Clone()
	copied.SetName(withSuffix(m.GetName(), c.suffix))
	manifest.RemoveExclusion(copied) // the copy has to go with its variant
	if err := unstructured.SetNestedField(copied.Object, c.replicas.Of(primary), "spec", "replicas"); err != nil {
		return m, fmt.Errorf("%s: replicas of %s: %w", m.Origin, m.Key().Human(), err)
	}
	if err := addVariantLabel(copied, c.key, c.value); err != nil {
		return m, err
	}
	pod := manifest.PodSpec(copied)
	for _, ref := range slices.Concat(manifest.ConfigReferences(pod), manifest.PullSecrets(pod)) {
		if name, ok := c.renamed[manifest.Key{Kind: ref.Kind, Namespace: m.GetNamespace(), Name: ref.Name()}]; ok {
			ref.Rename(name)
		}
	}
	return copied, nil
}

// govern gives the copy of a StatefulSet, which it changes for that, a copy of the Service that names its pods:
// members of a primary find their peers by that Service and must not find the copy's. It gives nothing for what has no
// such Service among the manifests.
func (c copying) govern(copied manifest.Manifest, manifests []manifest.Manifest) ([]manifest.Manifest, error) {
	if !copied.Is(manifest.KindStatefulSet) {
		return nil, nil
	}
	spec := copied.Object["spec"].(map[string]any) // it has a selector
	// A copy is new or replaced as a whole, and what it has stored is of no use without it.
	delete(spec, "updateStrategy")
	spec["persistentVolumeClaimRetentionPolicy"] = map[string]any{"whenDeleted": "Delete", "whenScaled": "Delete"}
	name, _ := spec["serviceName"].(string)
	for _, m := range manifest.Find(manifests, manifest.KindService, name) {
		if name == "" || m.GetNamespace() != copied.GetNamespace() {
			continue
		}
		s, err := copyService(m, c.suffix, c.key, c.value)
		if err != nil {
			return nil, err
		}
		spec["serviceName"] = s.GetName()
		return []manifest.Manifest{s}, nil
	}
	return nil, nil
}
