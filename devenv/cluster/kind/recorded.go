// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import "strings"

// HasOurName reports whether a container is called as the nodes of our clusters are. It proves
// nothing: only a record does.
func HasOurName(node string) bool { return strings.HasPrefix(node, namePrefix) }

// RecordedName returns the name of the cluster that the record in dir names, or "" when there is
// no record that can be read.
func RecordedName(dir string) string {
	known, err := readRecord(dir)
	if err != nil || known == nil {
		return ""
	}
	return known.Cluster
}
