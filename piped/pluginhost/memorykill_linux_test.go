// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/processtree"
)

const longEnough = time.Minute

// realGroup makes a control group of the kernel's below a mount, and removes it at the end of the test.
func realGroup(t *testing.T, mount string) (dir string, err error) {
	t.Helper()
	dir = filepath.Join(mount, fmt.Sprint("pipedeck-test-", os.Getpid(), "-", time.Now().UnixNano()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	t.Cleanup(func() {
		require.Eventually(
			t, func() bool { return syscall.Rmdir(dir) == nil }, longEnough, 10*time.Millisecond,
			"the control group of the test is busy",
		)
	})
	return dir, nil
}

// v2 is where cgroup v2 is mounted, alone or next to v1.
func v2(t *testing.T) (mount string, found bool) {
	t.Helper()
	for _, mount := range []string{cgroupMount, filepath.Join(cgroupMount, "unified")} {
		if _, err := os.Stat(filepath.Join(mount, "cgroup.controllers")); err == nil {
			return mount, true
		}
	}
	return "", false
}

// script is a program that piped starts.
func script(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+lines+"\n"), 0o700))
	return path
}

func launched(t *testing.T, program string, tree *processtree.Tree, room confinement) *process {
	t.Helper()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { reader.Close(); writer.Close() })
	p, err := startProcess(start{
		binary: program, config: config.Plugin{Name: "p"}, port: 1, serviceAddress: "localhost:1", lifeline: reader,
		tree: tree, room: room, clock: clock.System{},
	}, newOutput("", "p", nil))
	require.NoError(t, err)
	p.release = func() {}
	t.Cleanup(func() {
		p.stop(0)
		p.close()
	})
	return p
}

// The kernel ends a real process for its memory, in the best way that this machine has to offer; which one it was
// stands in the test's log. Not in parallel: where the kernel does not say which process it was, a plugin that another
// test kills at that moment is taken for it.
func TestAPluginThatTheKernelEndsForItsMemoryIsReported(t *testing.T) {
	eat := "exec tail /dev/zero" // keeps what it reads, since it never sees the end of a line
	want, room, tree := "", confinement{}, processtree.New()
	groups, why := groupsWithControllers(t)
	if why == nil {
		t.Log("variant: a control group of cgroup v2")
		l := limits{memory: 64 << 20}
		group, err := groups.create(tree, l)
		require.NoError(t, err)
		room, want = confinement{limits: l, group: group}, "it needed more memory than its limit of 64 MiB"
	} else if dir, err := realGroup(t, filepath.Join(cgroupMount, "memory")); err == nil {
		t.Logf("variant: a container's memory limit, by cgroup v1, for cgroup v2 is not to be had: %v", why)
		require.NoError(t, writeControl(dir, "memory.limit_in_bytes", "67108864"))
		_ = writeControl(dir, "memory.memsw.limit_in_bytes", "67108864") // where swap is counted
		eat = "echo $$ > " + filepath.Join(dir, "cgroup.procs") + "\n" + eat
		want = "this machine, or the container that piped runs in, had no memory left, as it seems"
	} else {
		t.Logf("variant: none, this user may not make control groups: %v; %v", why, err)
		t.Log(
			"the limit that the process itself runs into is " +
				"TestAPluginThatTakesMuchMemoryAtOnceIsReportedAtItsLimit",
		)
		return
	}
	p := launched(t, script(t, eat), tree, room)
	select {
	case <-p.ending.exited:
	case <-time.After(longEnough):
		require.Fail(t, "the kernel has not ended it")
	}
	require.Equal(t, "SIGKILL", p.ending.exit.Signal, p.ending.exit)
	require.EqualError(t, p.ending.exit, `plugin "p" was ended by the kernel because `+want+`; it wrote no output`)
}

// groupsWithControllers is a group of cgroup v2 in which groups for plugins can be made, or why there is none.
func groupsWithControllers(t *testing.T) (*cgroups, error) {
	t.Helper()
	mount, found := v2(t)
	if !found {
		return nil, os.ErrNotExist
	}
	offered, err := os.ReadFile(filepath.Join(mount, "cgroup.controllers"))
	if err != nil {
		return nil, err
	}
	for _, controller := range []string{"memory", "cpu", "pids"} {
		if !strings.Contains(" "+strings.TrimSpace(string(offered))+" ", " "+controller+" ") {
			return nil, fmt.Errorf("%s has no controller for %s", mount, controller)
		}
	}
	if err := writeControl(mount, "cgroup.subtree_control", "+memory +cpu +pids"); err != nil {
		return nil, err
	}
	dir, err := realGroup(t, mount)
	if err != nil {
		return nil, err
	}
	return &cgroups{dir: dir}, writeControl(dir, "cgroup.subtree_control", "+memory +cpu +pids")
}

// What a piped that was killed has left in its groups is ended by the next one, and the groups go.
func TestGroupsThatAnEarlierPipedHasLeftAreEmptiedAndRemoved(t *testing.T) {
	t.Parallel()
	mount, found := v2(t)
	dir, err := "", os.ErrNotExist
	if found {
		dir, err = realGroup(t, mount)
	}
	if err != nil {
		t.Skipf("this user may not create control groups: %v", err)
	}
	earlier, tree := &cgroups{dir: dir}, processtree.New()
	group, err := earlier.create(tree, limits{})
	require.NoError(t, err)
	p := launched(t, script(t, "exec sleep 1000"), tree, confinement{group: group})
	members, err := os.ReadFile(filepath.Join(group.dir, "cgroup.procs"))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintln(p.command.Process.Pid), string(members), "it is in its group from its start")

	ended, err := (&cgroups{dir: dir}).inherit(t.Context())
	require.NoError(t, err)
	require.Len(t, ended, 1)
	select {
	case <-p.ending.exited:
	case <-time.After(longEnough):
		require.Fail(t, "what was left still runs")
	}
	require.NoDirExists(t, group.dir)
}
