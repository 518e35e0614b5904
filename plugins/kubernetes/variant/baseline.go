// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"errors"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Baseline copies the Deployments of the running commit under new names with their own number of pods: what a canary is
// compared with. ConfigMaps and Secrets are shared with the primary, which has the same commit (PipeCD v1).
//
// Workloads and service are those that app, the configuration of the running commit, refers to; label is that of the
// deployment.
func Baseline(manifests []manifest.Manifest, app *config.Application, label config.VariantLabel, o config.BaselineOptions) ([]manifest.Manifest, error) {
	workloads := Workloads(manifests, app.Workloads)
	if len(workloads) == 0 {
		return nil, errors.New("the running commit has no Deployment to make a baseline of: check `workloads` of the application")
	}
	var made []manifest.Manifest
	if o.CreateService {
		s, err := copyService(manifests, app.Service, o.Suffix, label.Key, label.BaselineValue)
		if err != nil {
			return nil, err
		}
		made = append(made, s)
	}
	for _, m := range workloads {
		c, err := copyDeployment(m, copying{"baseline", o.Suffix, o.Replicas}, label.Key, label.BaselineValue, nil)
		if err != nil {
			return nil, err
		}
		made = append(made, c)
	}
	return made, nil
}
