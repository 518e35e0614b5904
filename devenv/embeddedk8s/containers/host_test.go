// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func newHost(t *testing.T) (host *Host, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "processes")
	host, err := NewHost(dir)
	require.NoError(t, err)
	t.Cleanup(host.Close)
	return host, dir
}

// shell is a run of a script.
func shell(t *testing.T, script string) Spec {
	t.Helper()
	log, err := OpenLog(filepath.Join(t.TempDir(), "0.log"))
	require.NoError(t, err)
	return Spec{
		Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/bin:/usr/bin"}, Dir: t.TempDir(), Log: log,
	}
}

func start(t *testing.T, host *Host, script string) *Process {
	t.Helper()
	p, err := host.Start(shell(t, script))
	require.NoError(t, err)
	t.Cleanup(func() { p.Kill(); <-p.Ended() })
	return p
}

func TestHowAProcessEndsIsKnown(t *testing.T) {
	t.Parallel()
	host, dir := newHost(t)
	for script, want := range map[string]Exit{
		"exit 0": {}, "exit 3": {Code: 3}, "kill -9 $$": {Code: 137, Signal: syscall.SIGKILL},
	} {
		p := start(t, host, script)
		<-p.Ended()
		exit, ok := p.Exit()
		require.True(t, ok)
		exit.At = time.Time{}
		require.Equal(t, want, exit, script)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "no record is left")
}

func TestWhatAProcessLeavesInItsGroupEndsWithIt(t *testing.T) {
	t.Parallel()
	host, _ := newHost(t)
	p := start(t, host, "sleep 600 & exit 0")
	<-p.Ended()
	none := func() bool { return syscall.Kill(-p.PID, 0) == syscall.ESRCH }
	require.Eventually(t, none, time.Minute, time.Millisecond)
}

func TestAProgramThatCannotBeStartedIsAnError(t *testing.T) {
	t.Parallel()
	host, _ := newHost(t)
	spec := shell(t, "")
	spec.Path = filepath.Join(t.TempDir(), "missing")
	_, err := host.Start(spec)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// kept starts a process that no Host knows, with a record of it.
func kept(t *testing.T, dir string, change func(*record)) *exec.Cmd {
	t.Helper()
	command := exec.Command("sleep", "600")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill() })
	started, ok := startOf(command.Process.Pid)
	require.True(t, ok)
	last := record{PID: command.Process.Pid, Started: started}
	change(&last)
	content := `{"pid":` + strconv.Itoa(last.PID) + `,"started":` + strconv.FormatUint(last.Started, 10) + "}"
	require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(last.PID)+".json"), []byte(content), 0o600))
	return command
}

func TestTheNextHostEndsWhatAKilledOneHasLeftAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := kept(t, dir, func(*record) {})
	other := kept(t, dir, func(last *record) { last.Started++ })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "17.json"), []byte(`{"pid":`), 0o600))
	host, err := NewHost(dir)
	require.NoError(t, err)
	t.Cleanup(host.Close)
	require.EqualError(t, left.Wait(), "signal: killed")
	require.NoError(t, other.Process.Signal(syscall.Signal(0)), "another process has the number by now")
	require.NoError(t, other.Process.Kill())
	_ = other.Wait()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestPortsAreGivenOnce(t *testing.T) {
	t.Parallel()
	ports := NewPorts()
	seen := map[int]bool{}
	for range 50 {
		port, err := ports.Take()
		require.NoError(t, err)
		require.False(t, seen[port])
		require.GreaterOrEqual(t, port, firstPort)
		require.Less(t, port, endPort)
		seen[port] = true
	}
	for port := range seen {
		ports.Release(port)
	}
	require.Empty(t, ports.taken)
}

func TestAProcessThatHasMoreMemoryThanItsLimitIsEnded(t *testing.T) {
	t.Parallel()
	for name, groups := range map[string]*Groups{"by control group": NewGroups(t.TempDir()), "watched": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "watched" && groups.How() == "checked every second" {
				t.Skip("this machine lets this user create no control group with a limit of memory")
			}
			t.Cleanup(groups.Close)
			host, _ := newHost(t)
			spec := shell(t, "exec dd if=/dev/zero of=/dev/null bs=256M count=100000")
			spec.Group = groups.New("one", 32<<20)
			p, err := host.Start(spec)
			require.NoError(t, err)
			t.Cleanup(func() { p.Kill(); <-p.Ended() })
			<-p.Ended()
			exit, _ := p.Exit()
			require.True(t, exit.OutOfMemory)
			require.Equal(t, 137, exit.Code)
			for _, part := range spec.Group.parts {
				require.NoDirExists(t, part.dir)
			}
		})
	}
}
