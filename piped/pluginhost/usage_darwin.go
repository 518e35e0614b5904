// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"time"

	processes "github.com/shirou/gopsutil/v4/process"
)

func look(pid int32) (usage, bool) {
	// Not NewProcess: that reads more than is needed here.
	handle := &processes.Process{Pid: pid}
	memory, err := handle.MemoryInfo()
	if err != nil {
		return usage{}, false
	}
	times, err := handle.Times()
	if err != nil {
		return usage{}, false
	}
	files, _ := handle.NumFDs()
	threads, _ := handle.NumThreads()
	return usage{
		rss: memory.RSS, files: uint32(files), threads: uint32(threads), pid: pid, seconds: times.User + times.System,
		at: time.Now(),
	}, true
}
