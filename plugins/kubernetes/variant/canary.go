// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"errors"
	"slices"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Canary copies the workloads under new names with their own number of pods, and the ConfigMaps and Secrets that they
// would otherwise share with the primary. The copies come configuration first. Hooks are not copied.
func Canary(manifests []manifest.Manifest, app *config.Application, o config.CanaryOptions) ([]manifest.Manifest,
	error) {
	patched, err := applyPatches(manifest.CloneAll(manifest.WithoutHooks(manifests)), o.Patches)
	if err != nil {
		return nil, err
	}
	workloads := Workloads(patched, app.Workloads)
	if len(workloads) == 0 {
		return nil, errors.New("there is no Deployment to make a canary of: check `workloads` of the application, " +
			"or use K8S_SYNC")
	}
	var configs []manifest.Manifest
	renamed := map[manifest.Key]string{}
	for _, m := range patched {
		if m.Is(manifest.KindConfigMap) || m.Is(manifest.KindSecret) {
			c := m.Clone()
			c.SetName(withSuffix(m.GetName(), string(o.Suffix)))
			manifest.RemoveExclusion(c)
			renamed[m.Key()] = c.GetName()
			configs = append(configs, c)
		}
	}
	label := app.VariantLabel
	c := copying{what: "canary",
		suffix: string(o.Suffix), key: label.Key, value: label.CanaryValue, replicas: o.Replicas,
		createService: o.CreateService, renamed: renamed}
	services, copies, err := c.copyAll(patched, workloads, app.Service)
	return slices.Concat(configs, services, copies), err
}
