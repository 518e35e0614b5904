// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"errors"
	"slices"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Baseline copies the workloads of the running commit under new names with their own number of pods: what a canary is
// compared with. ConfigMaps and Secrets are shared with the primary, which has the same commit (PipeCD v1).
//
// Workloads and service are those that app, the configuration of the running commit, refers to; label is that of the
// deployment.
func Baseline(manifests []manifest.Manifest, app *config.Application, label config.VariantLabel,
	o config.BaselineOptions) ([]manifest.Manifest, error) {
	workloads := Workloads(manifests, app.Workloads)
	if len(workloads) == 0 {
		return nil, errors.New("the running commit has no Deployment to make a baseline of: check `workloads` of " +
			"the application")
	}
	c := copying{what: "baseline",
		suffix: string(o.Suffix), key: label.Key, value: label.BaselineValue, replicas: o.Replicas,
		createService: o.CreateService}
	services, copies, err := c.copyAll(manifests, workloads, app.Service)
	return slices.Concat(services, copies), err
}
