// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package strategy

import (
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// Versions returns each image of the workloads once, in the order of the manifests. Without references every workload
// counts, not only Deployments.
func Versions(manifests []manifest.Manifest, refs []config.Reference) []manifest.Image {
	var versions []manifest.Image
	seen := map[string]bool{}
	for _, m := range workloads(manifests, refs) {
		for _, image := range manifest.Images(m) {
			if !seen[image.Reference] {
				seen[image.Reference] = true
				versions = append(versions, image)
			}
		}
	}
	return versions
}

func workloads(manifests []manifest.Manifest, refs []config.Reference) []manifest.Manifest {
	if len(refs) > 0 {
		return variant.Workloads(manifests, refs)
	}
	var found []manifest.Manifest
	for _, m := range manifests {
		if m.IsWorkload() && !manifest.IsHook(m) {
			found = append(found, m)
		}
	}
	return found
}
