// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hierarchy is one of the trees of control groups that the machine has.
type hierarchy struct {
	version int
	// controllers are those of version 1; those of version 2 differ by group.
	controllers []string
	// own is the directory of this process's group, and top whether that is the root of the hierarchy.
	own string
	top bool
}

// ownHierarchies are the hierarchies that are mounted, in the order of the system.
func ownHierarchies() (all []hierarchy) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		h := hierarchy{version: 1, controllers: strings.Split(parts[1], ","), top: parts[2] == "/"}
		kind := "cgroup"
		if parts[0] == "0" {
			h.version, h.controllers, kind = 2, nil, "cgroup2"
		}
		if h.own = mountedGroup(kind, h.controllers, parts[2]); h.own != "" {
			all = append(all, h)
		}
	}
	return all
}

// memory is where groups with a limit of memory may be made. With version 2 it is the group around this process's own:
// one with processes in it cannot have others with limits inside, except the root.
func (h hierarchy) memory() (place, bool) {
	switch {
	case h.version == 2 && h.top:
		return place{dir: h.own, version: 2, memory: true}, true
	case h.version == 2:
		return place{dir: filepath.Dir(h.own), version: 2, memory: true}, true
	}
	return place{dir: h.own, version: 1, memory: true, home: h.own}, slices.Contains(h.controllers, "memory")
}

// tracking is where groups may be made that hold processes and do nothing else.
func (h hierarchy) tracking() (place, bool) {
	return place{dir: h.own, version: 2}, h.version == 2
}

// other is a place for such groups where there is no version 2.
func (h hierarchy) other() (place, bool) {
	return place{dir: h.own, version: 1, home: h.own}, h.version == 1
}

// mountedGroup is the directory of a control group; empty when its hierarchy is not mounted.
func mountedGroup(kind string, controllers []string, path string) string {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		mount, source, ok := strings.Cut(lines.Text(), " - ")
		fields, what := strings.Fields(mount), strings.Fields(source)
		if !ok || len(fields) < 5 || len(what) < 3 || what[0] != kind ||
			len(controllers) > 0 && !slices.Contains(strings.Split(what[2], ","), controllers[0]) {
			continue
		}
		if below, ok := strings.CutPrefix(path, strings.TrimSuffix(fields[3], "/")); ok {
			return filepath.Join(fields[4], below)
		}
	}
	return ""
}
