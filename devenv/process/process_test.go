// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/buildtest"
	"github.com/pipedeck/pipedeck/system/owned"
)

var childProgram string

func TestMain(m *testing.M) { buildtest.Main(m, &childProgram, "./internal/child") }

// start returns the child and its first line of output.
func start(t *testing.T, what string) (*Process, <-chan string, string) {
	t.Helper()
	lines := make(chan string, 16)
	log := filepath.Join(t.TempDir(), "log")
	p, err := Start(Spec{Name: "the child", Path: childProgram, Args: []string{what}, LogFile: log,
		Line: func(l string) { lines <- l }})
	require.NoError(t, err)
	t.Cleanup(func() { p.Stop(context.Background(), 0) })
	return p, lines, log
}

func TestAChildThatFailsLeavesItsExitCodeAndLastLines(t *testing.T) {
	t.Parallel()
	p, lines, log := start(t, "fail")
	<-p.Done()
	require.Equal(t, "started", <-lines)
	require.Equal(t, 7, p.ExitCode())
	require.ErrorContains(t, p.Err(), "the child exited with code 7")
	require.ErrorContains(t, p.Err(), "cannot open the door")
	content, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(content), "cannot open the door")
	info, err := os.Stat(log)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestTheLastLinesAreWholeLinesAndTheSummaryIsOneLine(t *testing.T) {
	t.Parallel()
	p, _, _ := start(t, "ramble")
	<-p.Done()
	lines := strings.Split(p.Err().Error(), "\n")
	require.Equal(t, "the child exited with code 3; its last lines:", lines[0])
	require.Greater(t, len(lines), 50)
	for _, line := range lines[1:] {
		require.True(t, strings.HasPrefix(line, "this is line "), "%q", line)
	}
	require.Equal(t, "the child exited with code 3: this is line 1000", p.Summary())

	p, _, _ = start(t, "panic")
	<-p.Done()
	require.Equal(t, "the child exited with code 2: panic: it burns", p.Summary(), "not its last frame")

	p, _, _ = start(t, "stdin")
	require.NoError(t, syscall.Kill(p.PID(), syscall.SIGKILL))
	<-p.Done()
	require.Equal(t, "the child signal: killed", p.Summary())
}

func TestAProgramThatIsNotThereIsAnErrorAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Start(Spec{Name: "nothing", Path: "/no/such/program", LogFile: filepath.Join(t.TempDir(), "log")})
	require.ErrorContains(t, err, "start nothing")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestStopKillsAStubbornChildWithItsChildren(t *testing.T) {
	t.Parallel()
	p, lines, _ := start(t, "stubborn")
	grandchild, err := strconv.Atoi(<-lines)
	require.NoError(t, err)
	p.Stop(context.Background(), 50*time.Millisecond)
	require.Equal(t, -1, p.ExitCode(), "a signal ended it")
	// The kernel lets the orphan go to its new parent first, so it may take a moment.
	require.Eventually(t, func() bool { return !alive(grandchild) }, time.Minute, 10*time.Millisecond)
}

func TestAChildIsDoneAlsoWhenItsChildrenHoldItsOutput(t *testing.T) {
	t.Parallel()
	for what, outlives := range map[string]bool{"orphan": false, "orphan-elsewhere": true} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p, lines, _ := start(t, what)
			grandchild, err := strconv.Atoi(<-lines)
			require.NoError(t, err)
			t.Cleanup(func() { _ = syscall.Kill(grandchild, syscall.SIGKILL) })
			select {
			case <-p.Done():
			case <-time.After(time.Minute):
				require.Fail(t, "the child has ended, and no notification came")
			}
			require.Equal(t, 3, p.ExitCode())
			if outlives {
				require.True(t, alive(grandchild), "it left the group")
				return
			}
			require.Eventually(t, func() bool { return !alive(grandchild) }, time.Minute, 10*time.Millisecond)
		})
	}
}

// alive reports whether a process runs; one that only waits to be collected does not.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && len(out) > 0 && out[0] != 'Z'
}

func TestAChildSeesTheEndOfItsInputWhenItIsStopped(t *testing.T) {
	t.Parallel()
	p, lines, _ := start(t, "stdin")
	require.Equal(t, "started", <-lines)
	require.NoError(t, p.stdin.Close())
	<-p.Done()
	require.Zero(t, p.ExitCode())
}

func TestALineWithoutBoundDoesNotBlockTheChild(t *testing.T) {
	t.Parallel()
	p, _, log := start(t, "long")
	<-p.Done()
	require.Zero(t, p.ExitCode())
	content, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(content), "after")
}

func TestTheLogOfAChildIsBounded(t *testing.T) {
	t.Parallel()
	lines := 0
	log := filepath.Join(t.TempDir(), "log")
	p, err := Start(Spec{Name: "the child", Path: childProgram, Args: []string{"flood"}, LogFile: log,
		Line: func(string) { lines++ }})
	require.NoError(t, err)
	<-p.Done()
	require.Zero(t, p.ExitCode())
	require.Equal(t, 12<<10, lines)
	var kept int64
	for _, name := range []string{log, log + ".1"} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(owned.MaxLog))
		kept += info.Size()
	}
	require.Greater(t, kept, int64(owned.MaxLog), "the newest lines are kept")
	content, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(content), "\nafter\n")
}
