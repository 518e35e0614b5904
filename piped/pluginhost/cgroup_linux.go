// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/system/processtree"
)

// cgroupMount is where cgroup v2 is, as systemd and container engines mount it.
const cgroupMount = "/sys/fs/cgroup"

// cpuPeriod is the time in microseconds within which a share of a core is granted; the kernel's default.
const cpuPeriod = 100_000

// cgroups is the control group of piped, below which each plugin process gets its own with limits.
type cgroups struct{ dir string }

// openCgroups makes piped's own group fit to hold others. The kernel wants groups with limits to hold either
// processes or groups, so piped moves into a group next to those of its plugins, which it can do only where the
// group is its own (systemd: Delegate=yes) and no one else is in it.
func openCgroups() (*cgroups, error) {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return prepareCgroups(filepath.Join(cgroupMount, path), os.Getpid())
		}
	}
	return nil, errors.New("this machine has no cgroup v2")
}

func prepareCgroups(dir string, pid int) (*cgroups, error) {
	offered, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return nil, fmt.Errorf("there is no cgroup v2 for piped: %w", err)
	}
	for _, controller := range []string{"cpu", "memory", "pids"} {
		if !strings.Contains(" "+strings.TrimSpace(string(offered))+" ", " "+controller+" ") {
			return nil, fmt.Errorf("the control group %s has no controller for %s", dir, controller)
		}
	}
	members, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	for _, member := range strings.Fields(string(members)) {
		if member != strconv.Itoa(pid) {
			return nil, fmt.Errorf("process %s shares the control group %s with piped", member, dir)
		}
	}
	own := filepath.Join(dir, "piped")
	if err := os.Mkdir(own, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("the control group of piped cannot be changed: %w", err)
	}
	if err := writeControl(own, "cgroup.procs", strconv.Itoa(pid)); err != nil {
		return nil, err
	}
	if err := writeControl(dir, "cgroup.subtree_control", "+cpu +memory +pids"); err != nil {
		return nil, err
	}
	return &cgroups{dir: dir}, nil
}

// inherit ends what an earlier piped has left in groups of plugins.
func (c *cgroups) inherit(ctx context.Context) (ended []processtree.Process, err error) {
	left, err := filepath.Glob(filepath.Join(c.dir, processtree.GroupPrefix+"*"))
	for _, dir := range left {
		tree := processtree.New()
		found, failed := tree.UseGroup(dir), error(nil)
		if found == nil {
			var more []processtree.Process
			more, failed = tree.End(ctx)
			ended = append(ended, more...)
		}
		err = errors.Join(err, found, failed)
		tree.RemoveGroups()
	}
	return ended, err
}

// cgroup is the control group of one plugin process, with limits.
type cgroup struct{ dir string }

// create gives a process tree a control group with limits.
func (c *cgroups) create(tree *processtree.Tree, l limits) (*cgroup, error) {
	if err := tree.CreateGroup(c.dir); err != nil {
		return nil, err
	}
	g := &cgroup{dir: tree.Group()}
	if err := g.limit(l); err != nil {
		tree.RemoveGroups()
		return nil, err
	}
	return g, nil
}

func (g *cgroup) limit(l limits) error {
	var errs []error
	if l.memory > 0 {
		errs = append(errs, writeControl(g.dir, "memory.max", strconv.FormatUint(l.memory, 10)),
			writeControl(g.dir, "memory.oom.group", "1"))
		_ = writeControl(g.dir, "memory.swap.max", "0") // not there without swap
	}
	if l.cpu > 0 {
		errs = append(errs, writeControl(g.dir, "cpu.max", fmt.Sprintf("%d %d", int64(l.cpu*cpuPeriod), cpuPeriod)))
	}
	if l.pids > 0 {
		errs = append(errs, writeControl(g.dir, "pids.max", strconv.Itoa(l.pids)))
	}
	return errors.Join(errs...)
}

// value reads a number from a file of lines like "key 5"; 0 when it is not there.
func (g *cgroup) value(file, key string) uint64 {
	data, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return 0
	}
	return keyed(string(data), key)
}

// writeControl sets a control, which the kernel has made; files of a plain directory are not made.
func writeControl(dir, file, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
