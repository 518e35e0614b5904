// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc: USER_HZ is 100 on every architecture that Go runs on.
const tick = 10 * time.Millisecond

// cpuOf is the CPU that a process, the processes below it, and those of them that have ended, have used since
// their start.
func cpuOf(pid int) (time.Duration, error) {
	children, ticks, err := processes()
	if err != nil {
		return 0, err
	}
	var sum int64
	for list := []int{pid}; len(list) > 0; list = list[1:] {
		sum += ticks[list[0]]
		list = append(list, children[list[0]]...)
	}
	return time.Duration(sum) * tick, nil
}

// cpuAlone is the CPU time that a process itself has used.
func cpuAlone(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("read /proc/%d/stat: %q is not what was expected", pid, data)
	}
	var sum int64
	for _, field := range fields[11:13] { // utime, stime
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return time.Duration(sum) * tick, nil
}

// peakOf is the most resident memory that a process has had, in bytes.
func peakOf(pid int) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")),
				10, 64)
			return float64(kilobytes) * 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no VmHWM", pid)
}

// residentOf is the resident memory of one process in bytes.
func residentOf(pid int) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0, fmt.Errorf("read /proc/%d/statm: %q is not what was expected", pid, data)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return float64(pages) * float64(os.Getpagesize()), err
}

// memoryBelow is the resident memory of a process and those below it, in bytes: of those whose program's path contains
// part, and of the others.
func memoryBelow(pid int, part string) (others, matching float64, err error) {
	children, _, err := processes()
	if err != nil {
		return 0, 0, err
	}
	for list := []int{pid}; len(list) > 0; list = list[1:] {
		list = append(list, children[list[0]]...)
		program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", list[0]))
		if err != nil {
			continue // it has just ended
		}
		resident, err := residentOf(list[0])
		switch {
		case err != nil:
		case strings.Contains(program, part):
			matching += resident
		default:
			others += resident
		}
	}
	return others, matching, nil
}

// processes are all of the system: who started whom, and the CPU ticks of each with those of the children
// that it has waited for.
func processes() (children map[int][]int, ticks map[int]int64, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, nil, err
	}
	children, ticks = map[int][]int{}, map[int]int64{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // it has just ended
		}
		// The name, in brackets, may hold anything; see proc_pid_stat(5) for the fields after it.
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		if len(fields) < 15 {
			continue
		}
		parent, _ := strconv.Atoi(string(fields[1]))
		children[parent] = append(children[parent], pid)
		for _, field := range fields[11:15] { // utime, stime, cutime, cstime
			n, _ := strconv.ParseInt(string(field), 10, 64)
			ticks[pid] += n
		}
	}
	return children, ticks, nil
}
