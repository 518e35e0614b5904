// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import "strings"

// maxLastLine bounds the line with which a container ended, in bytes. Reasons hold it whole.
const maxLastLine = 1 << 10

// LastLine is the line of a container's output that says why it ended: that of a panic of Go, else the last. The output
// may be the end of all that the container wrote. A line of more than 1 KiB ends in an ellipsis.
func LastLine(output string) string {
	last := ""
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			last = line
			break
		}
		if line != "" {
			last = line
		}
	}
	if len(last) <= maxLastLine {
		return last
	}
	return strings.ToValidUTF8(last[:maxLastLine], "") + "…"
}
