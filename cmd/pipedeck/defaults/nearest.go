// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package defaults

import (
	"strings"

	"github.com/pipedeck/pipedeck/system/spelling"
)

// nearest returns what a user may have meant by a name, as the end of a sentence.
func nearest(name string, known []string) string {
	if near := spelling.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return "; there are " + strings.Join(known, ", ")
}
