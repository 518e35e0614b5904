// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/strategy"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Versions collects the images of workloads, each once.
type Versions struct {
	list []sdk.ArtifactVersion
	seen map[string]bool
}

// Add adds the images of the workloads among the manifests; refs choose the workloads, none for all.
func (v *Versions) Add(manifests []manifest.Manifest, refs []config.Reference) {
	if v.seen == nil {
		v.seen = map[string]bool{}
	}
	for _, image := range strategy.Versions(manifests, refs) {
		if v.seen[image.Reference] {
			continue
		}
		v.seen[image.Reference] = true
		v.list = append(v.list, sdk.ArtifactVersion{
			Version: image.Version(), Name: image.Name, URL: image.Reference,
		})
	}
}

// List are the images in the order in which they were added.
func (v *Versions) List() []sdk.ArtifactVersion { return v.list }
