// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package processtree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// CreateGroup creates a control group for the tree, in which Start puts its programs, below the group with the
// directory parent; empty for that of this process. An error means that this machine does not allow it; the tree works
// without.
func (t *Tree) CreateGroup(parent string) error {
	if parent == "" {
		var err error
		if parent, err = ownGroup(); err != nil {
			return err
		}
	}
	dir := filepath.Join(parent, GroupPrefix+t.token)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create a control group: %w", err)
	}
	// A plain directory of the same name holds no process: only the kernel adds this file.
	if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err != nil {
		return errors.Join(err, syscall.Rmdir(dir))
	}
	return t.UseGroup(dir)
}

// UseGroup makes the processes of a control group members, and those of the groups in it. The error is one of keeping
// the tree.
func (t *Tree) UseGroup(dir string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.groups, dir) {
		t.groups = append(t.groups, dir)
	}
	return t.keep()
}

// RemoveGroups removes the control groups of the tree, in which no process may be left.
func (t *Tree) RemoveGroups() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.groups) == 0 {
		return
	}
	for _, group := range t.groups {
		dirs := directories(group)
		for _, dir := range slices.Backward(dirs) {
			remove(dir)
		}
	}
	t.groups = nil
	_ = t.keep() // a group that is named and not there does no harm
}

// A group is busy for a moment after its last process has ended.
const (
	removeTries = 20
	removePause = time.Millisecond
)

func remove(dir string) {
	for range removeTries {
		if err := syscall.Rmdir(dir); !errors.Is(err, syscall.EBUSY) {
			return
		}
		time.Sleep(removePause)
	}
}

// directories are a group and the groups in it, outer ones first.
func directories(group string) []string {
	var dirs []string
	_ = filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	return dirs
}

// grouped are the processes in the control groups.
func (t *Tree) grouped() map[int]bool {
	t.mu.Lock()
	groups := slices.Clone(t.groups)
	t.mu.Unlock()
	in := map[int]bool{}
	for _, group := range groups {
		for _, dir := range directories(group) {
			data, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
			for field := range strings.FieldsSeq(string(data)) {
				if pid, err := strconv.Atoi(field); err == nil {
					in[pid] = true
				}
			}
		}
	}
	return in
}

// enter has a command start in the control group, if the tree has one. Leave is called after the start.
func (t *Tree) enter(command *exec.Cmd) (leave func(), grouped bool) {
	group := t.Group()
	if group == "" {
		return func() {}, false
	}
	dir, err := os.Open(group)
	if err != nil {
		return func() {}, false
	}
	command.SysProcAttr.UseCgroupFD, command.SysProcAttr.CgroupFD = true, int(dir.Fd())
	return func() { _ = dir.Close() }, true
}

// InGroup reports whether this process is in the control group of a tree: then groups for trees inside it are removed
// with that one, whatever happens to this process.
func InGroup() bool {
	own, err := ownGroup()
	return err == nil && strings.HasPrefix(filepath.Base(own), GroupPrefix)
}

// ownGroup is the directory of the control group of this process.
func ownGroup() (string, error) {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return mounted(path)
		}
	}
	return "", errors.New("this machine has no cgroup v2")
}

// mounted finds the directory of a group of cgroup v2, which may be mounted at any place and from any group on.
func mounted(path string) (string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		mount, kind, ok := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if !ok || len(fields) < 5 || !strings.HasPrefix(kind, "cgroup2 ") {
			continue
		}
		if below, ok := strings.CutPrefix(path, strings.TrimSuffix(fields[3], "/")); ok {
			return filepath.Join(fields[4], below), nil
		}
	}
	return "", errors.New("cgroup v2 is not mounted")
}
