// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/defaults"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/root"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/tui/document"
)

// checkDefaults checks a file with defaults of flags that is named itself; nil for anything else. more has the commands
// of this program; the others are those of pipedeck.
func checkDefaults(more *cobra.Command, files []configurationFile) *validation {
	if len(files) != 1 || filepath.Base(files[0].name) != "config.yaml" ||
		config.Claimed(files[0].content, "config.yaml") {
		return nil
	}
	file := files[0]
	v := newValidation(1)
	for _, mistakes := range []*defaults.Mistakes{
		defaults.Check(root.New(&session.Target{}), file.content, file.name, false),
		defaults.Check(more, file.content, file.name, true),
	} {
		for _, m := range mistakes.List {
			found := document.Mistake{
				File: m.Name, Line: m.Line, Column: m.Column, Severity: "error", Message: m.Message,
			}
			if !slices.Contains(v.Problems, found) { // both see lines for all commands
				v.Problems = append(v.Problems, found)
			}
		}
	}
	return v
}
