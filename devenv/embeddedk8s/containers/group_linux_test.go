// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheGroupOfAKilledClusterIsRemovedWhereverItWas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := NewGroups(dir)
	if len(first.places) == 0 {
		t.Skip("no control group may be created here")
	}
	name := filepath.Base(first.places[0].dir)
	elsewhere := filepath.Join(t.TempDir(), name) // as the first one leaves it that ran in another control group
	require.NoError(t, os.MkdirAll(filepath.Join(elsewhere, "uid-main-0"), 0o700))
	require.FileExists(t, filepath.Join(dir, GroupFile))
	require.NoError(t, os.WriteFile(filepath.Join(dir, GroupFile), []byte(elsewhere), 0o600))
	second := NewGroups(dir)
	require.NoDirExists(t, elsewhere)
	require.DirExists(t, second.places[0].dir)
	second.Close()
	require.NoDirExists(t, second.places[0].dir)
	require.NoFileExists(t, filepath.Join(dir, GroupFile))
}

func TestAFileThatNamesAnythingElseRemovesNothing(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, GroupFile), []byte(other), 0o600))
	NewGroups(dir).Close()
	require.DirExists(t, other)
}

// grouped is a run of a script in a group with a bound for the memory.
func grouped(t *testing.T, host *Host, bytes int64, script string) (*Process, Spec) {
	t.Helper()
	groups := NewGroups(t.TempDir())
	t.Cleanup(groups.Close)
	if len(groups.places) == 0 {
		t.Skip("no control group may be created here")
	}
	if bytes > 0 && groups.How() == "checked every second" {
		t.Skip("no control group with a limit of memory may be created here")
	}
	spec := shell(t, script)
	spec.Group = groups.New("one", bytes)
	p, err := host.Start(spec)
	require.NoError(t, err)
	t.Cleanup(func() { p.Kill(); <-p.Ended() })
	return p, spec
}

// number waits for the number of a process in a file.
func number(t *testing.T, path string) (pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		content, _ := os.ReadFile(path)
		var err error
		pid, err = strconv.Atoi(strings.TrimSpace(string(content)))
		return err == nil
	}, time.Minute, time.Millisecond)
	return pid
}

func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool { _, runs := startOf(pid); return !runs }, time.Minute, time.Millisecond)
}

// hidden starts a process without an environment in its own session, whose parents have ended.
const hidden = `(env -i setsid sh -c 'echo $$ >left; exec sleep 600' &) ; `

func TestWhatClearedItsEnvironmentAndLeftTheSessionEndsWithTheContainer(t *testing.T) {
	t.Parallel()
	host, _ := newHost(t)
	p, spec := grouped(t, host, 0, hidden+"sleep 600")
	left := number(t, filepath.Join(spec.Dir, "left"))
	p.Kill()
	<-p.Ended()
	awaitEnd(t, left)
	for _, part := range spec.Group.parts {
		require.NoDirExists(t, part.dir)
	}
}

func TestAProgramThatIsStartedInAContainerLaterEndsWithIt(t *testing.T) {
	t.Parallel()
	host, _ := newHost(t)
	p, spec := grouped(t, host, 0, "sleep 600")
	later := exec.Command("/bin/sh", "-c", hidden)
	later.Dir = spec.Dir
	forget, err := p.Launch(later)
	require.NoError(t, err)
	require.NoError(t, later.Wait())
	forget()
	left := number(t, filepath.Join(spec.Dir, "left"))
	p.Kill()
	<-p.Ended()
	awaitEnd(t, left)
}

func TestWhatAKilledClusterHasLeftInItsGroupsEndsWithTheNextOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := NewGroups(dir)
	if len(first.places) == 0 {
		t.Skip("no control group may be created here")
	}
	host, _ := newHost(t)
	spec := shell(t, hidden+"sleep 600")
	spec.Group = first.New("one", 0)
	p, err := host.Start(spec)
	require.NoError(t, err)
	t.Cleanup(func() { p.Kill(); <-p.Ended() })
	left := number(t, filepath.Join(spec.Dir, "left"))
	second := NewGroups(dir)
	t.Cleanup(second.Close)
	awaitEnd(t, left)
	require.NoDirExists(t, filepath.Join(second.places[0].dir, "one"))
}

func TestAChildThatIsStartedAtOnceIsInTheGroupOfTheMemory(t *testing.T) {
	t.Parallel()
	host, _ := newHost(t)
	for range 5 {
		p, _ := grouped(t, host, 32<<20, "dd if=/dev/zero of=/dev/null bs=256M count=100000; sleep 600")
		<-p.Ended()
		exit, _ := p.Exit()
		require.True(t, exit.OutOfMemory)
		require.Equal(t, 137, exit.Code, "no process of the container goes on")
	}
}

func TestTheMemoryOfAContainerThatJoinedLateIsWatched(t *testing.T) {
	t.Parallel()
	groups := NewGroups(t.TempDir())
	t.Cleanup(groups.Close)
	group := groups.New("one", 1<<20)
	t.Cleanup(group.release)
	if _, ok := group.bounds(); !ok {
		t.Skip("no control group with a limit of memory may be created here")
	}
	require.False(t, group.overrun(os.Getpid()), "the kernel bounds what is inside")
	group.join(1<<30, group.parts) // as after a start that the system has refused inside of the group
	require.True(t, group.overrun(os.Getpid()))
}

func TestThreadsReturnToTheGroupOfTheProcess(t *testing.T) {
	t.Parallel()
	host, _ := newHost(t)
	_, _ = grouped(t, host, 32<<20, "sleep 600")
	var before, after []byte
	_, err := host.launch(nil, func() *exec.Cmd {
		before, _ = os.ReadFile("/proc/self/cgroup")
		after, _ = os.ReadFile("/proc/thread-self/cgroup")
		return exec.Command("true")
	})
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
	require.NotEmpty(t, after)
}

func TestTheRestOfAProcessGroupEndsWithTheNextHost(t *testing.T) {
	t.Parallel()
	dir, work := filepath.Join(t.TempDir(), "processes"), t.TempDir()
	require.NoError(t, os.Mkdir(dir, 0o700))
	leader := exec.Command("/bin/sh", "-c", "echo $$ >group; env -i sleep 600 & echo $! >left; read wait")
	leader.Dir, leader.SysProcAttr = work, &syscall.SysProcAttr{Setpgid: true}
	input, err := leader.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, leader.Start())
	left := number(t, filepath.Join(work, "left"))
	t.Cleanup(func() { _ = syscall.Kill(left, syscall.SIGKILL) })
	require.NoError(t, records{dir}.write(leader.Process.Pid, ""))
	require.NoError(t, input.Close())
	_ = leader.Wait() // the leader has ended, as with a killed cluster
	_, runs := startOf(left)
	require.True(t, runs)

	host, err := NewHost(dir)
	require.NoError(t, err)
	t.Cleanup(host.Close)
	awaitEnd(t, left)
}

func TestAProcessGroupOfAnotherSessionIsLeftAlone(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	leader := exec.Command("/bin/sh", "-c", "sleep 600 & echo $! >left")
	leader.Dir, leader.SysProcAttr = work, &syscall.SysProcAttr{Setsid: true}
	require.NoError(t, leader.Run())
	left := number(t, filepath.Join(work, "left"))
	t.Cleanup(func() { _ = syscall.Kill(left, syscall.SIGKILL) })
	group, _ := syscall.Getpgid(left)
	record{PID: group, Started: 1, Session: sessionOf(os.Getpid())}.endOthers()
	_, runs := startOf(left)
	require.True(t, runs)
}
