// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"slices"
	"strings"
)

// sharedMaps are the ends of the paths of maps that the API merges field by field: an apply of an empty one changes
// nothing of what others have put in, so that it need not be tried.
var sharedMaps = []string{
	"metadata", "metadata.labels", "metadata.annotations", "strategy", "updateStrategy", "rollingUpdate", "resources",
	"limits", "requests", "securityContext",
}

func isShared(path string) bool {
	switch path {
	case "spec", "data", "binaryData":
		return true
	}
	return slices.ContainsFunc(sharedMaps, func(end string) bool {
		return path == end || strings.HasSuffix(path, "."+end)
	})
}

// certain returns the suspected differences but for the unsure ones: without a word of the API they are other people's
// fields.
func certain(suspected []difference) (those []difference) {
	for _, one := range suspected {
		if !one.unsure {
			those = append(those, one)
		}
	}
	return those
}

// within returns what an apply would change. When all that was suspected is unsure, that is what it would change of it:
// what it changes elsewhere, such as what a webhook writes each time, is no more drift than in an object that is not
// suspected.
func within(confirmed, suspected []difference) (those []difference) {
	if len(suspected) == 0 || len(certain(suspected)) > 0 {
		return confirmed
	}
	for _, one := range confirmed {
		if slices.ContainsFunc(suspected, func(of difference) bool { return isWithin(one.path, of.path) }) {
			those = append(those, one)
		}
	}
	return those
}

// isWithin reports whether a path is that of a value, of something in it, or of a whole that it is a part of, which is
// one difference where paths are too long.
func isWithin(path, value string) bool {
	longer, shorter := path, value
	if len(longer) < len(shorter) {
		longer, shorter = shorter, longer
	}
	rest, found := strings.CutPrefix(longer, shorter)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
