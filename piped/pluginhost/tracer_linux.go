// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxTraced bounds the processes of a plugin that are inspected for a debugger.
const maxTraced = 64

// tracedBelow returns a process that a debugger holds, pid or one that it has started, and the debugger; zeros for
// none. Stopped is set while the process stands still.
func tracedBelow(pid int) (traced, by int, stopped bool) {
	below := []int{pid}
	for i := 0; i < len(below) && i < maxTraced; i++ {
		if traced, by, stopped = tracedItself(below[i]); by != 0 {
			return traced, by, stopped
		}
		below = append(below, childrenOf(below[i])...)
	}
	return 0, 0, false
}

// tracedItself is tracedBelow without what the process has started.
func tracedItself(pid int) (traced, by int, stopped bool) {
	tracer, err := strconv.Atoi(statusField(pid, "TracerPid:"))
	if err != nil || tracer == 0 {
		return 0, 0, false
	}
	return pid, tracer, strings.HasPrefix(statusField(pid, "State:"), "t")
}

// childrenOf reads the children of each thread; none where the system does not list them.
func childrenOf(pid int) (children []int) {
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(data)) {
			if n, err := strconv.Atoi(child); err == nil {
				children = append(children, n)
			}
		}
	}
	return children
}

// processName is the name of a program that runs; empty when it has ended.
func processName(pid int) string { return statusField(pid, "Name:") }
