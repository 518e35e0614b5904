// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/chantest"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// Nothing that could end the process is left: the host, piped and the plugin were killed, or the embedded Kubernetes.
func TestWhatAKilledEnvironmentHasStartedIsEnded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dir  func(w *workspace.Workspace) string
		left string
	}{
		"by plugins of piped": {(*workspace.Workspace).PipedDir, "1 process of plugins"},
		"by pods": {
			func(w *workspace.Workspace) string { return w.ClusterDir("local") }, "1 process of pods on local",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, "left")
			dir := test.dir(w)
			require.NoError(t, os.MkdirAll(dir, 0o700))
			tree, err := processtree.Keep(filepath.Join(dir, processtree.FileName))
			require.NoError(t, err)
			ready := filepath.Join(t.TempDir(), "ready")
			command, err := tree.Start(func() *exec.Cmd {
				return exec.Command("/bin/sh", "-c",
					`(setsid sh -c 'trap "" TERM HUP; echo > `+ready+`; exec sleep 600' &)`)
			})
			require.NoError(t, err)
			require.NoError(t, command.Wait())
			require.Eventually(t, func() bool {
				_, err := os.Stat(ready)
				return err == nil
			}, wait, time.Millisecond)

			require.Equal(t, []string{test.left}, EndOrphans(t.Context(), w))
			require.Empty(t, EndOrphans(t.Context(), w))
		})
	}
}

// PipeCD's piped does not end what its plugins have started, and its plugins do not notice when it is killed.
func TestWhatAForeignPipedHasStartedEndsWithTheEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "daemon")
	o := options(w)
	o.ForeignPiped = true
	r := up(t, o)
	started := pids(t, w, 2)
	r.stop()
	require.NoError(t, chantest.Receive(t, r.ended))
	for _, pid := range started {
		require.Eventually(t, func() bool { return ended(pid) }, wait, time.Millisecond)
	}
}

// ended reports whether a process is gone or waits only for its exit code to be read.
func ended(pid int) bool {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return true
	}
	status, err := p.Status()
	return err != nil || slices.Contains(status, process.Zombie)
}

func TestTheControlGroupOfPodsThatAKillHasLeftIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "group")
	group := filepath.Join(t.TempDir(), "pipedeck-pods-0123")
	require.NoError(t, os.MkdirAll(filepath.Join(group, "uid-main-0"), 0o700))
	pods := filepath.Join(w.ClusterDir("local"), "pods")
	require.NoError(t, os.MkdirAll(pods, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(pods, "cgroup"), []byte(group+"\n"), 0o600))
	EndOrphans(t.Context(), w)
	require.NoDirExists(t, group)
}

func TestWhatPodsHaveLeftWithoutAnEnvironmentIsEnded(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "bare")
	records := filepath.Join(w.ClusterDir("local"), "pods", "processes")
	require.NoError(t, os.MkdirAll(records, 0o700))
	want := 1

	command := exec.Command("/bin/sh", "-c", "env -i sleep 600 &")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, command.Run())
	session, err := unix.Getsid(0)
	require.NoError(t, err)
	record := fmt.Sprintf(`{"pid":%d,"started":1,"session":%d}`, command.Process.Pid, session)
	require.NoError(t, os.WriteFile(filepath.Join(records, "1.json"), []byte(record), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(records, "2.json"), []byte(`{"pid":`), 0o600))

	tree := processtree.New()
	if tree.CreateGroup("") == nil {
		// A group of the pods, as in the server's note, with a process in its own session.
		parent, name := filepath.Split(tree.Group())
		tree.RemoveGroups()
		group := filepath.Join(parent, "pipedeck-pods-"+name)
		require.NoError(t, os.Mkdir(group, 0o755))
		t.Cleanup(func() { _ = syscall.Rmdir(group) })
		dir, err := os.Open(group)
		require.NoError(t, err)
		t.Cleanup(func() { _ = dir.Close() })
		hidden := exec.Command("/bin/sh", "-c", "env -i setsid sleep 600 &")
		hidden.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
		require.NoError(t, hidden.Run())
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(records), "cgroup"), []byte(group+"\n"), 0o600))
		want++
	}
	require.Equal(t, []string{processesOf(want, "pods on local")}, EndOrphans(t.Context(), w))
	require.Empty(t, EndOrphans(t.Context(), w))
}
