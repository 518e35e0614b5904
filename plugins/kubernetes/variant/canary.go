// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Canary copies the Deployments under new names with their own number of pods, and the ConfigMaps and Secrets that they
// would otherwise share with the primary. The copies come configuration first.
func Canary(manifests []manifest.Manifest, app *config.Application, o config.CanaryOptions) ([]manifest.Manifest, error) {
	patched, err := applyPatches(manifest.CloneAll(manifests), o.Patches)
	if err != nil {
		return nil, err
	}
	workloads := Workloads(patched, app.Workloads)
	if len(workloads) == 0 {
		return nil, errors.New("there is no Deployment to make a canary of: check `workloads` of the application, or use K8S_SYNC")
	}
	label := app.VariantLabel
	var made []manifest.Manifest
	renamed := map[manifest.Key]string{}
	for _, m := range patched {
		if m.Is(manifest.KindConfigMap) || m.Is(manifest.KindSecret) {
			c := m.Clone()
			c.SetName(withSuffix(m.GetName(), o.Suffix))
			renamed[m.Key()] = c.GetName()
			made = append(made, c)
		}
	}
	if o.CreateService {
		s, err := copyService(patched, app.Service, o.Suffix, label.Key, label.CanaryValue)
		if err != nil {
			return nil, err
		}
		made = append(made, s)
	}
	for _, m := range workloads {
		c, err := copyDeployment(m, copying{"canary", o.Suffix, o.Replicas}, label.Key, label.CanaryValue, renamed)
		if err != nil {
			return nil, err
		}
		made = append(made, c)
	}
	return made, nil
}

// copying says how a Deployment is copied.
type copying struct {
	// what the copy is, in words.
	what, suffix string
	replicas     *config.Replicas
}

func copyDeployment(m manifest.Manifest, o copying, key, value string, renamed map[manifest.Key]string) (manifest.Manifest, error) {
	if !m.Is(manifest.KindDeployment) {
		return m, fmt.Errorf("%s: %s cannot have a %s: only Deployments can", m.Origin, m.Key().Human(), o.what)
	}
	primary, found, err := unstructured.NestedInt64(m.Object, "spec", "replicas")
	if err != nil {
		return m, fmt.Errorf("%s: spec.replicas of %s is not a whole number", m.Origin.At("spec.replicas"), m.Key().Human())
	}
	if !found {
		primary = 1 // what the API fills in
	}
	c := m.Clone()
	c.SetName(withSuffix(m.GetName(), o.suffix))
	if err := unstructured.SetNestedField(c.Object, o.replicas.Of(primary), "spec", "replicas"); err != nil {
		return m, fmt.Errorf("%s: replicas of %s: %w", m.Origin, m.Key().Human(), err)
	}
	if err := addVariantLabel(c, key, value); err != nil {
		return m, err
	}
	for _, ref := range manifest.ConfigReferences(manifest.PodSpec(c)) {
		if name, ok := renamed[manifest.Key{Kind: ref.Kind, Namespace: m.GetNamespace(), Name: ref.Name()}]; ok {
			ref.Rename(name)
		}
	}
	return c, nil
}
