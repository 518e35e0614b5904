// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/system/spelling"
)

// suggest is what to do about a field that a kind does not have: the nearest name next to it, else a place further up
// that has the name.
func suggest(path string, ask inquiry) string {
	const unknown = "look for a misspelling or a wrong indentation"
	if ask.fields == nil {
		return unknown
	}
	name := lastName(path)
	if near := spelling.Nearest(name, ask.fields(path)); near != "" {
		return "did you mean " + near + "?"
	}
	for up := manifest.ParentPath(path); up != ""; up = manifest.ParentPath(up) {
		for _, known := range ask.fields(up) {
			if known == name {
				return "the field belongs next to " + lastName(up) + ": look at its indentation"
			}
		}
	}
	return unknown
}
