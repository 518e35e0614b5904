// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginflag

import (
	"context"

	"github.com/pipedeck/pipedeck/tui/text"
)

const (
	// maxVersion bounds a version in bytes.
	maxVersion = 100
	// unversioned is what a plugin of our SDK prints whose author gave it no version.
	unversioned = "development"
)

// PrintedVersion is what a program prints as its version, in one line; empty for a program that knows no such command,
// and for a plugin without a version.
func PrintedVersion(ctx context.Context, program string) string {
	printed := string(printed(ctx, program, "", "version", maxVersion))
	if line := text.Line(text.FirstLine(printed)); line != unversioned {
		return line
	}
	return ""
}
