// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// returnProgramPages gives back the pages of this program's own file that are in memory. Those that are needed again
// come back by themselves, from the system's cache of the file; the others were needed by the start only. Nothing can
// be lost, because only mappings are given back that are read-only and were never written to.
func returnProgramPages() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	mappings, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return err
	}
	for _, m := range unchanged(string(mappings), program) {
		_, _, problem := syscall.Syscall(syscall.SYS_MADVISE, m.start, m.end-m.start, syscall.MADV_DONTNEED)
		if problem != 0 {
			return fmt.Errorf("give back the pages of %s: %w", program, problem)
		}
	}
	return nil
}

// mapping is a range of addresses of this process.
type mapping struct{ start, end uintptr }

// unchanged finds the mappings of a file that cannot be written to and hold only what is in the file, in a list like
// /proc/self/smaps.
func unchanged(mappings, file string) []mapping {
	var found []mapping
	var current mapping
	candidate := false
	for line := range strings.Lines(mappings) {
		line = strings.TrimSpace(line)
		var m mapping
		var permissions string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &m.start, &m.end, &permissions); err == nil {
			current, candidate = m, !strings.Contains(permissions, "w") && strings.HasSuffix(line, " "+file)
			continue
		}
		own, ok := strings.CutPrefix(line, "Anonymous:") // pages that are not those of the file
		if ok && candidate && strings.TrimSpace(own) == "0 kB" {
			found = append(found, current)
		}
	}
	return found
}
