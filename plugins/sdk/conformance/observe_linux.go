// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// observable is whether processes can be inspected here.
const observable = true

// markedPids returns the processes whose environment has the mark, without zombies.
func markedPids(mark string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if err == nil && bytes.Contains(append([]byte{0}, append(data, 0)...), []byte("\x00"+markEnv+"="+mark+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// marked describes them.
func marked(mark string) []string {
	var found []string
	for _, pid := range markedPids(mark) {
		found = append(found, fmt.Sprintf("%s (pid %d)", commandOf(pid), pid))
	}
	return found
}

func commandOf(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "a process"
	}
	return strings.TrimSpace(string(data))
}

// commandLines are those of the marked processes but one, and of its children, which may have another environment.
func commandLines(mark string, but int) []string {
	var lines []string
	for _, pid := range union(markedPids(mark), childPids(but)) {
		if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && pid != but {
			lines = append(lines, strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	return lines
}

// workingDirectories are those of the marked processes.
func workingDirectories(mark string) []string {
	var found []string
	for _, pid := range markedPids(mark) {
		if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil {
			found = append(found, dir)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func union(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// childPids are the processes that the threads of a process have started.
func childPids(pid int) (pids []int) {
	tables, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, table := range tables {
		data, _ := os.ReadFile(table)
		for _, field := range strings.Fields(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// listeners returns the addresses at which the marked processes accept TCP connections.
func listeners(mark string) []string {
	inodes := map[string]bool{}
	pids := markedPids(mark)
	for _, pid := range pids {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "socket:[") {
				inodes[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
			}
		}
	}
	var found []string
	for _, pid := range pids[:min(1, len(pids))] {
		for _, table := range []string{"tcp", "tcp6"} {
			data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
			for line := range strings.Lines(string(data)) {
				fields := strings.Fields(line)
				const listening = "0A"
				if len(fields) > 9 && fields[3] == listening && inodes[fields[9]] {
					found = append(found, address(fields[1]))
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// address decodes one of /proc/net/tcp: groups of four bytes, the last byte first.
func address(text string) string {
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	if err != nil {
		return text
	}
	for at := 0; at+4 <= len(raw); at += 4 {
		slices.Reverse(raw[at : at+4])
	}
	number, _ := strconv.ParseUint(port, 16, 16)
	return net.JoinHostPort(net.IP(raw).String(), strconv.FormatUint(number, 10))
}

// descriptors counts the open files of a process.
func descriptors(pid int) (int, bool) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(entries), err == nil
}

// threads counts the threads of a process.
func threads(pid int) (int, bool) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return len(entries), err == nil
}

// residentMemory is what the marked processes have of the memory, in bytes.
func residentMemory(mark string) (bytes int) {
	for _, pid := range markedPids(mark) {
		data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		var size, resident int // pages
		if n, _ := fmt.Sscan(string(data), &size, &resident); n == 2 {
			bytes += resident * os.Getpagesize()
		}
	}
	return bytes
}

// zombies describes the children of the marked processes that have ended and were not waited for.
func zombies(mark string) []string {
	parents := markedPids(mark)
	entries, _ := filepath.Glob("/proc/[0-9]*/stat")
	var found []string
	for _, entry := range entries {
		data, _ := os.ReadFile(entry)
		name, rest, _ := strings.Cut(string(data), ") ") // pid (name) state parent
		var state string
		var parent int
		if n, _ := fmt.Sscan(rest, &state, &parent); n == 2 && state == "Z" && slices.Contains(parents, parent) {
			found = append(found, name[strings.IndexByte(name, '(')+1:])
		}
	}
	return found
}

// processorUse is what all threads of a process have used of the processors, and waited for one.
func processorUse(pid int) (total schedule, ok bool) {
	all := schedules(pid)
	for _, thread := range all {
		total.ran += thread.ran
		total.waited += thread.waited
	}
	return total, len(all) > 0
}

// processorWait is how long the thread of a process that has waited longest for a processor has done so.
func processorWait(pid int) (longest time.Duration) {
	for _, thread := range schedules(pid) {
		longest = max(longest, thread.waited)
	}
	return longest
}

// schedules returns those of the threads of a process.
func schedules(pid int) (all []schedule) {
	tables, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, table := range tables {
		data, _ := os.ReadFile(table)
		var s schedule // both are nanoseconds
		if n, _ := fmt.Sscan(string(data), &s.ran, &s.waited); n == 2 {
			all = append(all, s)
		} // else the thread has ended
	}
	return all
}
