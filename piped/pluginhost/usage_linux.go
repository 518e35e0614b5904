// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// ticksPerSecond is the unit of CPU times in /proc, the same on all machines (proc_pid_stat(5)).
const ticksPerSecond = 100

// look reads one file for all but the open files: fifty plugins are looked at every few seconds.
func look(pid int32) (usage, bool) {
	dir := "/proc/" + strconv.Itoa(int(pid))
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return usage{}, false
	}
	now, ok := parseStat(stat)
	now.files, now.pid, now.at = openFiles(dir+"/fd"), pid, time.Now()
	return now, ok
}

func parseStat(stat []byte) (usage, bool) {
	// The name, in brackets, may hold anything; the fields after it begin with the third.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	field := func(n int) uint64 {
		v, _ := strconv.ParseUint(string(fields[n-3]), 10, 64)
		return v
	}
	if len(fields) < 24-2 {
		return usage{}, false
	}
	return usage{
		rss:     field(24) * uint64(os.Getpagesize()),
		threads: uint32(field(20)),
		seconds: float64(field(14)+field(15)) / ticksPerSecond,
	}, true
}

// openFiles is the size of the directory since Linux 6.2; before, its entries have to be counted.
func openFiles(dir string) uint32 {
	if info, err := os.Stat(dir); err == nil && info.Size() > 0 {
		return uint32(info.Size())
	}
	files, err := os.Open(dir)
	if err != nil {
		return 0
	}
	defer files.Close()
	names, _ := files.Readdirnames(-1)
	return uint32(len(names))
}
