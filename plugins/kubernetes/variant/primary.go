// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Primary returns every manifest, ready to be stamped and applied. The config hashes are in them.
func Primary(manifests []manifest.Manifest, app *config.Application, o config.PrimaryOptions) ([]manifest.Manifest,
	error) {
	made := manifest.CloneAll(manifests)
	label := app.VariantLabel
	if o.AddVariantLabelToSelector {
		for _, m := range Workloads(made, app.Workloads) {
			if err := addVariantLabel(m, label.Key, label.PrimaryValue); err != nil {
				return nil, err
			}
		}
	}
	if o.CreateService {
		found, err := service(made, app.Service)
		if err != nil {
			return nil, fmt.Errorf("createService: %w", err)
		}
		s, err := copyService(found, string(o.Suffix), label.Key, label.PrimaryValue)
		if err != nil {
			return nil, err
		}
		made = append(made, s)
	}
	return made, manifest.AddConfigHashes(made)
}
