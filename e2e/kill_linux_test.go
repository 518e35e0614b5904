// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A stopped process acts on no signal but SIGKILL, and it notices neither the end of its input nor that of its parent.
func TestDownEndsWhatWasStoppedWhenItsParentsWereKilled(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := filepath.Join(t.TempDir(), "pid")
	// The system continues a stopped process when its parent ends, but not one with its own session.
	script := "setsid sh -c 'echo $$ > " + file + ".new; mv " + file + ".new " + file + "; exec sleep 600' & wait"
	repo := repository(t, map[string]string{"note/app.pipecd.yaml": application("note",
		pipeline("SCRIPT_RUN", "run: \""+script+"\""))})
	s := e.start("up", repo, "--cluster", "none")
	var detached int
	waitUntil(t, "the script", func() bool {
		content, err := os.ReadFile(file)
		detached, _ = strconv.Atoi(strings.TrimSpace(string(content)))
		return err == nil && detached > 0
	})
	piped := e.child("piped")
	stopped := []int{e.pluginPID("wait"), e.pluginPID("waitapproval"), e.pluginPID("scriptrun"), detached}
	// the host would end the plugins of a piped that was killed
	for _, pid := range append(stopped, s.cmd.Process.Pid) {
		require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	}
	require.NoError(t, syscall.Kill(piped, syscall.SIGKILL))
	require.NoError(t, s.cmd.Process.Kill())
	s.wait()
	require.True(t, alive(detached), "otherwise this test shows nothing")

	down := e.pipedeck("down")
	require.Zero(t, down.Code, down.Stderr)
	for _, pid := range append(stopped, piped) {
		require.False(t, alive(pid))
	}
	e.leavesNothing()
}
