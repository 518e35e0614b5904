// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/piped/failpoint"
	"github.com/pipedeck/pipedeck/system/filetest"
)

func TestAFullDiskIsAProblemAndCommitsAreDeployedOnceItIsFree(t *testing.T) {
	t.Parallel()
	disk := filetest.SmallDisk(t, "200m")
	e := newEnvironment(t, pipeline("{}"))
	e.start(t, "--work-dir", filepath.Join(disk, "work"))
	e.deck.awaitEnd(t, 0)
	ballast := filetest.Fill(t, disk)
	e.deck.awaitProblem(t, "disk", "is full")
	e.commit(t, "on a full disk", pipeline("{}", "{}"))
	problem := e.deck.awaitProblem(t, "repository local", "no space left on device")
	require.Contains(t, problem.GetNextStep(), "free space")
	require.NoError(t, os.Remove(ballast))
	e.deck.awaitNoProblem(t)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, 1).GetStatus())
}

// limited starts piped in its own user namespace after a shell command that sets limits there.
func (e *environment) limited(t *testing.T, limit string) *pipedProcess {
	t.Helper()
	probe := exec.Command("unshare", "--user", "--map-root-user", "sh", "-c", limit)
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("limits of a user namespace cannot be set here: %v: %s", err, out)
	}
	args := append(e.flags("run"), "--config-file", e.config)
	command := append(
		[]string{"--user", "--map-root-user", "sh", "-c", limit + "; exec \"$0\" \"$@\"", pipedBinary}, args...,
	)
	return executeProgram(t, "unshare", []string{failpoint.Variable + "="}, command...)
}

func TestExhaustedInotifyIsAProblemWithItsSysctl(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ limit, advice string }{
		"instances": {"echo 0 > /proc/sys/user/max_inotify_instances", "fs.inotify.max_user_instances"},
		"watches":   {"echo 0 > /proc/sys/user/max_inotify_watches", "fs.inotify.max_user_watches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, pipeline("{}"))
			e.limited(t, c.limit)
			problem := e.deck.awaitProblem(t, "watch of repository local", "changes are noticed after up to 5 s")
			require.Contains(t, problem.GetNextStep(), c.advice)
			e.commit(t, "is noticed all the same", pipeline("{}", "{}"))
			e.deck.awaitEnd(t, 1)
		})
	}
}
