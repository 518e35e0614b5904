// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import "regexp"

// Languages of comments that a story reads and a reader does not see. Each is one line of the page, such as
// <!-- until: COMMAND -->, and the text of its block is the command.
const (
	// Before is what the reader of the page has done already: the story runs it like a block of commands.
	Before = "before"
	// Until waits as a reader does who looks at the UI before the next step: the story repeats the command until it
	// succeeds.
	Until = "until"
)

// instruction is the form of such a comment.
var instruction = regexp.MustCompile(`^\s*<!-- (\w+): (.*) -->\s*$`)

// comment returns the language and the command of such a comment.
func comment(line string) (language, command string, found bool) {
	parts := instruction.FindStringSubmatch(line)
	if parts == nil {
		return "", "", false
	}
	return parts[1], parts[2], true
}
