// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import "strings"

// Until is the language of a comment that waits as a reader does who looks at the UI before the next step. Its text is
// a command, which a story repeats until it succeeds. On the page it is <!-- until: COMMAND -->, on one line.
const Until = "until"

// until returns the command of such a comment.
func until(line string) (command string, found bool) {
	rest, found := strings.CutPrefix(strings.TrimSpace(line), "<!-- until: ")
	if !found {
		return "", false
	}
	return strings.CutSuffix(rest, " -->")
}
