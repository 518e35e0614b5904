// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"slices"
	"strings"
)

// crashLines picks the beginning of a fatal error of the Go runtime out of a plugin's output: the stacks of
// many goroutines follow it, and push it out of the last lines.
type crashLines struct {
	lines []string
	stack panicStack
}

// keptCrashLines holds the message, the goroutine and the first two functions with their places.
const keptCrashLines = 6

var crashBeginnings = []string{
	"panic: ", "fatal error: ", "runtime: out of memory", "unexpected fault address ", "SIGSEGV: ", "SIGABRT: ",
}

// outOfMemory reports whether the Go runtime gave up because the system gave it no more memory.
func outOfMemory(crash []string) bool {
	return slices.ContainsFunc(crash, func(line string) bool {
		return strings.HasPrefix(line, "runtime: out of memory") || strings.HasPrefix(
			line, "fatal error: runtime: out of memory",
		) ||
			strings.HasPrefix(line, "fatal error: runtime: cannot allocate memory")
	})
}

func (c *crashLines) see(line string) {
	if len(c.lines) > 0 {
		c.stack.see(line)
	}
	switch {
	case len(c.lines) >= keptCrashLines:
	case len(c.lines) > 0:
		c.lines = append(c.lines, strings.TrimSpace(line))
	default:
		for _, beginning := range crashBeginnings {
			if strings.HasPrefix(line, beginning) {
				c.lines, c.stack.message = append(c.lines, line), line
				return
			}
		}
	}
}
