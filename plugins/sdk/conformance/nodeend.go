// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import "strings"

// thrownInNode is the error that ended a process of Node. Node prints the place, a mark below it, the error with its
// stack, and as its last line its version, which explains nothing.
func thrownInNode(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if !strings.HasPrefix(lines[len(lines)-1], "Node.js v") {
		return ""
	}
	lines = lines[:len(lines)-1]
	marked := ""
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if line != "" && strings.Trim(line, "^") == "" {
			return clip(marked)
		}
		if line != "" {
			marked = line
		}
	}
	return ""
}
