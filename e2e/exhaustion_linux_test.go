// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/e2e/drive"
)

// limited runs a command on the environment after a shell command that sets a limit, in a user namespace when the limit
// belongs to one.
func (e *environment) limited(namespace bool, limit string, args ...string) drive.Result {
	e.t.Helper()
	cmd := e.command(args...)
	shell := append([]string{"sh", "-c", limit + "; exec \"$0\" \"$@\""}, cmd.Args...)
	if namespace {
		shell = append([]string{"unshare", "--user", "--map-root-user"}, shell...)
		if out, err := exec.Command("unshare", "--user", "--map-root-user", "sh", "-c",
			limit).CombinedOutput(); err != nil {
			e.t.Skipf("limits of a user namespace cannot be set here: %v: %s", err, out)
		}
	}
	restricted := exec.Command(shell[0], shell[1:]...)
	restricted.Dir, restricted.Env = cmd.Dir, cmd.Env
	result, err := drive.Run(restricted)
	require.NoError(e.t, err)
	return result
}

func TestAnExhaustedSystemIsReportedAsSuch(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{"web/app.pipecd.yaml": application("web",
		pipeline("WAIT", "duration: 1ms"))})
	s := e.start("up", repo, "--cluster", "none")
	s.await("it is deployed", func(ev event) bool { return ev.is("deployment", "app", "web", "status", "SUCCESS") })
	const noWatches = "echo 0 > /proc/sys/user/max_inotify_instances"

	r := e.limited(true, noWatches, "status")
	require.Zero(t, r.Code, "an environment that runs is shown without a watch: %s", r.Stderr)
	r = e.limited(true, noWatches, "logs", "--plugin", "wait", "--follow")
	require.Equal(t, 3, r.Code)
	require.Contains(t, r.Stderr, "too many open files")
	require.Contains(t, r.Stderr, "next step: raise the limit on inotify instances: sudo sysctl "+
		"fs.inotify.max_user_instances")
	r = e.limited(false, "ulimit -n 8", "status")
	require.Equal(t, 3, r.Code)
	require.Contains(t, r.Stderr, "too many open files")
	require.Contains(t, r.Stderr, "next step: raise the limit of open files")

	other := newEnvironment(t)
	r = other.limited(false, "ulimit -n 20", "ci", repo, "--cluster", "none")
	require.Equal(t, 3, r.Code)
	require.Contains(t, r.Stderr, "too many open files")
	require.Contains(t, r.Stderr, "next step: raise the limit of open files")
	r = other.limited(true, noWatches, "ci", repo, "--cluster", "none")
	require.Equal(t, 3, r.Code)
	require.Contains(t, r.Stderr, "next step: sudo sysctl fs.inotify")
}
