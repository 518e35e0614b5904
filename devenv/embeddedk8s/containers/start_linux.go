// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bytes"
	"os"
	"strconv"
)

// startOf returns when a process was started, in ticks since boot; ok is false when it has ended.
func startOf(pid int) (started uint64, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	// The fields after the command, which is in parentheses and may hold anything: the first is the state, the 20th of
	// them the start.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return 0, false
	}
	started, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return started, err == nil
}
