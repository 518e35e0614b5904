// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Workloads returns the manifests that `workloads` refers to; without references every Deployment (PipeCD v1). A hook
// is no workload.
func Workloads(manifests []manifest.Manifest, refs []config.Reference) []manifest.Manifest {
	manifests = manifest.WithoutHooks(manifests)
	if len(refs) == 0 {
		return manifest.Find(manifests, manifest.KindDeployment, "")
	}
	var found []manifest.Manifest
	for _, m := range manifests {
		if slices.ContainsFunc(refs, func(r config.Reference) bool { return refersTo(r, manifest.KindDeployment, m) }) {
			found = append(found, m)
		}
	}
	return found
}

// service returns the manifest that `service` refers to, by its name or host; without a reference the first Service.
func service(manifests []manifest.Manifest, ref config.Reference) (manifest.Manifest, error) {
	if ref.Kind != "" && ref.Kind != manifest.KindService {
		return manifest.Manifest{}, fmt.Errorf("service.kind: %q is not supported, only a Service is", ref.Kind)
	}
	name := ref.Name
	if host, ok := serviceOf(name, ""); ok { // no Service has a dot in its name
		name = host.name
	}
	services := manifest.Find(manifests, manifest.KindService, name)
	if len(services) == 0 {
		if ref.Name != "" {
			return manifest.Manifest{}, fmt.Errorf("no Service named %q among the manifests (service.name)", ref.Name)
		}
		return manifest.Manifest{}, errors.New("there is no Service among the manifests")
	}
	return services[0], nil
}

func refersTo(ref config.Reference, defaultKind string, m manifest.Manifest) bool {
	kind := ref.Kind
	if kind == "" {
		kind = defaultKind
	}
	return m.GetKind() == kind && (ref.Name == "" || m.GetName() == ref.Name)
}

// addVariantLabel puts the variant into a workload's selector and pod labels.
func addVariantLabel(m manifest.Manifest, key, value string) error {
	if err := manifest.SetSelectorLabel(m, key, value); err != nil {
		return fmt.Errorf("%s: selector of %s: %w", m.Origin, m.Key().Human(), err)
	}
	if err := manifest.SetPodTemplateLabel(m, key, value); err != nil {
		return fmt.Errorf("%s: pod labels of %s: %w", m.Origin, m.Key().Human(), err)
	}
	return nil
}
