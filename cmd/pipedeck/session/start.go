// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"os"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/text"
)

// StartCommand returns the command that starts an environment which does not run. A process that was killed leaves how
// it was started, so the command does the same again; otherwise the user has to say which repository to watch.
func StartCommand(w *workspace.Workspace) string {
	if last, err := w.Published(); err == nil && last.Restart != nil {
		here, _ := os.Getwd() // without one, the command names the directory
		return Again(w, last.Restart, here)
	}
	return "pipedeck up" + Flags(w) + " DIR; or: pipedeck up" + Flags(w) + " --sample hello-world"
}

// Again returns what a user types in the directory here to start an environment as r does. An empty directory stands
// for one that is not known.
func Again(w *workspace.Workspace, r *workspace.Restart, here string) string {
	command := "pipedeck up" + Flags(w)
	for i, argument := range r.Arguments {
		if argument == "--" && (i+1 == len(r.Arguments) || !strings.HasPrefix(r.Arguments[i+1], "-")) {
			continue
		}
		command += " " + text.ShellWord(argument)
	}
	// Paths in the arguments, and the repository where none is named, are relative to the directory.
	if here == r.Directory {
		return command
	}
	return "cd " + text.ShellWord(r.Directory) + " && " + command
}
