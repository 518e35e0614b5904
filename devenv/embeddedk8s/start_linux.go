// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is the unit of process times in /proc. Linux shows user space 100 on every architecture Go runs on.
const ticksPerSecond = 100

// startTime is when this process was started, to a hundredth of a second; now when that cannot be found out. It is
// earlier than the first statement of main by the time that initialising the Kubernetes packages takes.
func startTime(now time.Time) time.Time {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return now
	}
	// The fields after the command, which is in parentheses and may hold anything. The 20th of them is the start since
	// boot.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return now
	}
	ticks, err := strconv.ParseInt(string(fields[19]), 10, 64)
	if err != nil {
		return now
	}
	var uptime unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &uptime); err != nil {
		return now
	}
	age := time.Duration(uptime.Nano()) - time.Duration(ticks)*(time.Second/ticksPerSecond)
	if age < 0 {
		return now
	}
	return now.Add(-age)
}
