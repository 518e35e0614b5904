// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// memorySlack is what a process without a control group may have mapped above its memory limit before an
// allocation fails: it bounds what can happen between two looks, and leaves room for what a Go program maps
// and does not use.
const memorySlack = 256 << 20

// started sets what can only be set for a process that is there.
func (c confinement) started(pid int) {
	if c.group == nil && c.limits.memory > 0 {
		most := c.limits.memory + memorySlack
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}, nil)
	}
}

// exhausted reports whether a limit has ended the process: the kernel ended it for its memory, or it ended itself, as
// programs in Go do, when it got no more memory or thread.
func (c confinement) exhausted(exit *ExitError) string {
	memory := c.group == nil && c.limits.memory > 0 && outOfMemory(exit.Crash) ||
		c.group != nil && c.group.value("memory.events", "oom_kill") > 0
	switch {
	case memory:
		return "it needed more memory than its limit of " + mebibytes(c.limits.memory)
	case c.group != nil && exit.Signal == "" && exit.Code != 0 && c.group.value("pids.events", "max") > 0:
		return fmt.Sprintf("it needed more processes and threads than its limit of %d", c.limits.pids)
	default:
		return ""
	}
}

// kernelMemoryKills counts the processes that the kernel has ended for want of memory since the machine
// started.
func kernelMemoryKills() uint64 {
	data, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	return keyed(string(data), "oom_kill")
}

// keyed finds a number in lines like "key 5".
func keyed(text, key string) uint64 {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, key+" "); ok {
			n, _ := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			return n
		}
	}
	return 0
}
