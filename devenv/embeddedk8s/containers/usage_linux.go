// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// tick is the unit of processor time in /proc, the same on all architectures that Go knows.
	tick = time.Second / 100

	// Fields of /proc/PID/stat behind the command, which is in parentheses and may hold anything.
	statGroup        = 2
	statFirstTime    = 11 // in user mode, in the kernel, and both of the children that were waited for
	statLastTime     = 14
	statResidentSize = 21 // in pages
)

// Usages returns what process groups use, by their numbers. A group without processes is left out.
func Usages(groups map[int]bool) (map[int]Usage, error) {
	usages := map[int]Usage{}
	if len(groups) == 0 {
		return usages, nil
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("look for processes: %w", err)
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("look for processes: %w", err)
	}
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", name, "stat"))
		if err != nil {
			continue // it has ended
		}
		group, usage, ok := parseStat(stat)
		if !ok || !groups[group] {
			continue
		}
		sum := usages[group]
		sum.CPU += usage.CPU
		sum.Memory += usage.Memory
		usages[group] = sum
	}
	return usages, nil
}

// parseStat reads /proc/PID/stat.
func parseStat(stat []byte) (group int, usage Usage, ok bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= statResidentSize {
		return 0, Usage{}, false
	}
	number := func(field int) int64 {
		value, _ := strconv.ParseInt(string(fields[field]), 10, 64)
		return value
	}
	for field := statFirstTime; field <= statLastTime; field++ {
		usage.CPU += number(field) * int64(tick)
	}
	usage.Memory = number(statResidentSize) * int64(os.Getpagesize())
	return int(number(statGroup)), usage, true
}
