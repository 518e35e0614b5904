// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// More than all queues hold together is written while piped does not move: the script has to wait for it. Then
// every line arrives, in its place.
func TestAStageWaitsForALogThatIsNotTakenAndNoLineIsLost(t *testing.T) {
	t.Parallel()
	const lines, width = 200_000, 120
	dir := t.TempDir()
	gate, pid, done := filepath.Join(dir, "gate"), filepath.Join(dir, "pid"), filepath.Join(dir, "done")
	require.NoError(t, syscall.Mkfifo(gate, 0o600))
	script := fmt.Sprintf("read go < %s; "+
		`sh -c 'echo $$ > %s.new; mv %s.new %s; exec seq -f "entry %%0%d.0f" 1 %d'; touch %s`,
		gate, pid, pid, pid, width, lines, done)
	e := newEnvironment(t)
	repo := repository(t, map[string]string{"long/app.pipecd.yaml": application("long",
		pipeline("SCRIPT_RUN", "run: "+strconv.Quote(script)))})
	s := e.start("up", repo, "--cluster", "none")
	s.await("the stage runs", func(e event) bool { return e.is("stage", "name", "SCRIPT_RUN", "status", "RUNNING") })
	open, err := os.OpenFile(gate, os.O_WRONLY, 0) // opens once the script reads
	require.NoError(t, err)

	agent, plugin := e.child("piped"), e.pluginPID("scriptrun")
	require.NoError(t, syscall.Kill(agent, syscall.SIGSTOP))
	resume := func() { _ = syscall.Kill(agent, syscall.SIGCONT) }
	t.Cleanup(resume)
	_, err = open.WriteString("go\n")
	require.NoError(t, err)
	require.NoError(t, open.Close())
	waitUntil(t, "the script writes", func() bool { _, err := os.Stat(pid); return err == nil })
	text, err := os.ReadFile(pid)
	require.NoError(t, err)
	writer, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	before, still := "", 0
	waitUntil(t, "the script can write no more", func() bool {
		now := ioOf(t, writer)
		if still++; now != before || !strings.Contains(now, "wchar") {
			before, still = now, 0
		}
		return still > 20
	})
	require.NoFileExists(t, done)
	held := peak(t, plugin)
	resume()

	s.await("the deployment succeeds", func(e event) bool {
		return e.is("deployment", "app", "long", "status",
			"SUCCESS")
	})
	require.FileExists(t, done)
	r := e.pipedeck("logs", "long")
	require.Zero(t, r.Code, r.Stderr)
	next := 1
	for line := range strings.Lines(r.Stdout) {
		if _, number, found := strings.Cut(line, "entry 0"); found {
			if want := fmt.Sprintf("%0*d\n", width-1, next); number != want {
				require.Equal(t, want, number, "a line is missing or not in its place")
			}
			next++
		}
	}
	require.Equal(t, lines, next-1)
	t.Logf("the plugin held at most %d MiB, piped %d MiB of memory; the log has %d MiB", held, peak(t, agent),
		lines*width>>20)
	require.Less(t, held, 64)
	require.Less(t, peak(t, agent), 192)
}

// ioOf is what a process has read and written so far.
func ioOf(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	require.NoError(t, err, "the script has not waited")
	return string(text)
}

// peak is the most memory that a process has had so far, in MiB.
func peak(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, err := strconv.Atoi(strings.Fields(value)[0])
			require.NoError(t, err)
			return kilobytes >> 10
		}
	}
	require.Fail(t, "no VmHWM", string(text))
	return 0
}
