// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"path"
	"path/filepath"
	"strings"
)

// Marks of blocks of commands, which have the language sh, and of their output, which has the language text. Each block
// of commands has one of these, Needs or RunBy.
const (
	// Run is that of commands that a story runs, and that succeed. The first block of output behind them, in the same
	// section, shows what they print.
	Run = "run"
	// RunTerminal is the same for commands that keep their terminal, as the UI does.
	RunTerminal = "run terminal"
	// OfTerminal is that of output that the last RunTerminal prints, also later.
	OfTerminal = "terminal"
	// Usage is that of the forms of a command, with placeholders.
	Usage = "usage"
)

// IsRun reports whether a story runs the commands of a block.
func (b Block) IsRun() bool { return b.Language == "sh" && (b.Mark == Run || b.Mark == RunTerminal) }

// Needs returns why no story runs a block: what its mark says it needs. "" is not such a mark.
func (b Block) Needs() string {
	need, _ := strings.CutPrefix(b.Mark, "needs ")
	if need == b.Mark {
		return ""
	}
	return need
}

// RunBy returns the script that runs the commands of a block in place of a story, from the root of the repository.
func (b Block) RunBy() string {
	script, _ := strings.CutPrefix(b.Mark, "run-by ")
	if script == b.Mark {
		return ""
	}
	return script
}

// Reasons are what a block may need that a story has not, with what it means.
func Reasons() map[string]string {
	return map[string]string{
		"account": "an account at a service",
		"clone":   "a clone in which nothing else builds meanwhile",
		"engine":  "a container engine",
		"files":   "files of yours that no page creates",
		"network": "the network",
		"program": "a program of others",
		"release": "a release; make e2e-release installs one",
		"server":  "a server, such as PipeCD's control plane or a registry",
	}
}

// File returns the file that a block shows whole, relative to the directory of the reader; "" for other blocks.
func (b Block) File() string {
	if b.Language == "sh" || b.Language == "text" || !filepath.IsLocal(b.Mark) {
		return ""
	}
	return b.Mark
}

// Configures reports whether a block shows a whole configuration of piped or of an application.
func (b Block) Configures() bool {
	name := path.Base(b.File())
	ofPiped := strings.HasPrefix(name, "piped") && strings.HasSuffix(name, ".yaml") && name != "piped-plugin.yaml"
	return ofPiped || strings.HasSuffix(name, ".pipecd.yaml")
}
