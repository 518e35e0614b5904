// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"os"
	"strconv"
	"strings"
)

// stoppedBySignal completes a message about a process that does not answer because it is stopped.
func stoppedBySignal(pid int) string {
	if strings.HasPrefix(statusField(pid, "State:"), "T") {
		return "; it was stopped by a signal (SIGSTOP)"
	}
	return ""
}

func statusField(pid int, name string) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
