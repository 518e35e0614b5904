// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import "strings"

// Languages of comments that a story reads and a reader does not see. Each is one line of the page, such as
// <!-- until: COMMAND -->, and the text of its block is the command.
const (
	// Before is what the reader of the page has done already: the story runs it like a block of commands.
	Before = "before"
	// Until waits as a reader does who looks at the UI before the next step: the story repeats the command until it
	// succeeds.
	Until = "until"
)

// comment returns the language and the command of such a comment.
func comment(line string) (language, command string, found bool) {
	inner, found := strings.CutPrefix(strings.TrimSpace(line), "<!-- ")
	if !found {
		return "", "", false
	}
	inner, found = strings.CutSuffix(inner, " -->")
	language, command, _ = strings.Cut(inner, ": ")
	return language, command, found && (language == Before || language == Until)
}
