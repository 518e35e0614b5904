// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/system/spelling"
)

// suggestion is the end of a message on an unknown name.
func suggestion(name string, known []string) string {
	if near := spelling.Nearest(name, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if len(known) == 0 {
		return "; there are none"
	}
	const most = 25
	if more := len(known) - most; more > 0 {
		return fmt.Sprintf("; known are %s and %d more", strings.Join(known[:most], ", "), more)
	}
	return "; known are " + strings.Join(known, ", ")
}
