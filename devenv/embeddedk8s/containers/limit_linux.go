// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// watches says that the memory of processes can be looked at.
	watches = true
	// groupPrefix begins the name of the control group of a cluster.
	groupPrefix = "pipedeck-pods-"
	// A group is busy for a moment after its last process has ended.
	removeTries = 50
	removePause = time.Millisecond
)

// NewLimits finds out what the machine allows. The directory of the cluster's pods names its control group, and a file
// in it says where that is, so that the next Limits removes what a killed cluster has left, also when it runs in
// another control group itself. No process of an earlier run is left.
func NewLimits(dir string) *Limits {
	sum := sha256.Sum256([]byte(dir))
	name := groupPrefix + hex.EncodeToString(sum[:8])
	note := filepath.Join(dir, GroupFile)
	if left, err := os.ReadFile(note); err == nil && filepath.Base(string(left)) == name {
		removeGroup(string(left))
	}
	_ = os.Remove(note)
	for _, place := range memoryGroups() {
		group := filepath.Join(place.dir, name)
		removeGroup(group)
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		limits := &Limits{group: group, version: place.version, note: note}
		if limits.works() && os.WriteFile(note, []byte(group), 0o600) == nil {
			return limits
		}
		removeGroup(group)
	}
	return &Limits{}
}

// works tries a limit.
func (l *Limits) works() bool {
	if l.version == 2 && os.WriteFile(filepath.Join(l.group, "cgroup.subtree_control"), []byte("+memory"), 0) != nil {
		return false
	}
	limit := l.New("try", 1<<30)
	defer limit.release()
	return limit.group != ""
}

// Close removes the control group. All processes have ended.
func (l *Limits) Close() {
	if l.group != "" {
		removeGroup(l.group)
		_ = os.Remove(l.note)
	}
}

// New makes a limit. The name is that of no other limit which is in use.
func (l *Limits) New(name string, bytes int64) *Limit {
	limit := &Limit{bytes: bytes, version: l.version}
	if l.group == "" {
		return limit
	}
	group := filepath.Join(l.group, name)
	if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return limit
	}
	bound, others := "memory.max", map[string]string{"memory.swap.max": "0", "memory.oom.group": "1"}
	if l.version == 1 {
		bound, others = "memory.limit_in_bytes", nil
	}
	if os.WriteFile(filepath.Join(group, bound), strconv.AppendInt(nil, bytes, 10), 0) != nil {
		removeGroup(group)
		return limit
	}
	for file, value := range others {
		// A machine without swap has no such file.
		_ = os.WriteFile(filepath.Join(group, file), []byte(value), 0)
	}
	limit.group = group
	return limit
}

// enter puts a process that was just started into the group.
func (l *Limit) enter(pid int) {
	if l == nil || l.group == "" {
		return
	}
	if os.WriteFile(filepath.Join(l.group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0) != nil {
		l.release()
		l.group = "" // watch takes over
	}
}

// exceeded reports whether a process was ended because of the limit.
func (l *Limit) exceeded() bool {
	if l == nil {
		return false
	}
	if l.group == "" {
		return l.ended.Load()
	}
	file := "memory.events"
	if l.version == 1 {
		file = "memory.oom_control"
	}
	content, _ := os.ReadFile(filepath.Join(l.group, file))
	for line := range bytes.Lines(content) {
		if count, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			return string(bytes.TrimSpace(count)) != "0"
		}
	}
	return false
}

// kill ends the processes that are left in the group.
func (l *Limit) kill() {
	if l == nil || l.group == "" {
		return
	}
	if l.version == 2 && os.WriteFile(filepath.Join(l.group, "cgroup.kill"), []byte("1"), 0) == nil {
		return
	}
	pids, _ := os.ReadFile(filepath.Join(l.group, "cgroup.procs"))
	for field := range strings.FieldsSeq(string(pids)) {
		if pid, err := strconv.Atoi(field); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// release removes the group. All of its processes have ended.
func (l *Limit) release() {
	if l != nil && l.group != "" {
		removeGroup(l.group)
	}
}

// removeGroup removes a control group and those in it. Only empty ones can be removed.
func removeGroup(group string) {
	entries, _ := os.ReadDir(group)
	for _, entry := range entries {
		if entry.IsDir() {
			removeGroup(filepath.Join(group, entry.Name()))
		}
	}
	for range removeTries {
		if err := syscall.Rmdir(group); !errors.Is(err, syscall.EBUSY) {
			return
		}
		time.Sleep(removePause)
	}
}

// memoryGroup is a control group in which groups with a limit may be made.
type memoryGroup struct {
	dir     string
	version int
}

// memoryGroups are the groups to try. With version 2 it is the one around this process's own: a group with processes
// in it cannot have others with limits inside.
func memoryGroups() (all []memoryGroup) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0":
			if dir := mountedGroup("cgroup2", "", parts[2]); dir != "" {
				all = append(all, memoryGroup{filepath.Dir(dir), 2})
			}
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			if dir := mountedGroup("cgroup", "memory", parts[2]); dir != "" {
				all = append(all, memoryGroup{dir, 1})
			}
		}
	}
	return all
}

// mountedGroup is the directory of a control group; empty when its hierarchy is not mounted.
func mountedGroup(kind, controller, path string) string {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		mount, source, ok := strings.Cut(lines.Text(), " - ")
		fields, what := strings.Fields(mount), strings.Fields(source)
		if !ok || len(fields) < 5 || len(what) < 3 || what[0] != kind ||
			controller != "" && !slices.Contains(strings.Split(what[2], ","), controller) {
			continue
		}
		if below, ok := strings.CutPrefix(path, strings.TrimSuffix(fields[3], "/")); ok {
			return filepath.Join(fields[4], below)
		}
	}
	return ""
}

// memoryOf is the resident memory of a process and of all that it has started, in bytes.
func memoryOf(pid int) int64 {
	id := strconv.Itoa(pid)
	content, err := os.ReadFile("/proc/" + id + "/statm")
	if err != nil {
		return 0
	}
	var total int64
	if fields := strings.Fields(string(content)); len(fields) > 1 {
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		total = pages * int64(os.Getpagesize())
	}
	children, _ := os.ReadFile("/proc/" + id + "/task/" + id + "/children")
	for child := range strings.FieldsSeq(string(children)) {
		if number, err := strconv.Atoi(child); err == nil {
			total += memoryOf(number)
		}
	}
	return total
}
