// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"path/filepath"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Flags returns what a hint must add to a command so that it finds this environment again.
func Flags(w *workspace.Workspace) string {
	flags := ""
	if w.Explicit || w.Name != "default" {
		flags += " --name " + w.Name
	}
	if root, err := workspace.Root(); w.Explicit || err != nil || filepath.Dir(w.Dir) != root {
		flags += " --state-dir " + text.ShellWord(filepath.Dir(w.Dir))
	}
	return flags
}
