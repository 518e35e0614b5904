// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import "github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"

// isEmptyClaim reports whether a volume claim holds nothing when it is created: it names neither a volume, which may be
// that of a former claim, nor where its data comes from.
func isEmptyClaim(m manifest.Manifest) bool {
	if !m.Is("PersistentVolumeClaim") {
		return false
	}
	for _, field := range []string{"spec.volumeName", "spec.dataSource", "spec.dataSourceRef"} {
		if m.Value(field) != nil {
			return false
		}
	}
	return true
}
