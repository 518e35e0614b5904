// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhoWatchesAnEnvironmentStaysWhenItsProcessStartsAgainWithOtherFlags(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := t.TempDir()
	file, recorded, shown := filepath.Join(dir, "ran"), filepath.Join(dir, "recorded"), filepath.Join(dir, "shown")
	repo := repository(t, map[string]string{
		"shop/app.pipecd.yaml": brokenInto("shop", file), "shop/greeting.txt": "hello\n",
	})
	first := openTerminal(t, e.command("up", repo, "--cluster", "none", "--record", shown), 120, 30)
	e.awaitDeployment("shop", "SUCCESS")
	attached := openTerminal(t, e.command("attach"), 120, 30)
	attached.sees("SUCCESS")
	plain := openTerminal(t, e.command("attach", "--output", "plain"), 160, 40)
	plain.sees("SUCCESS")
	watcher := e.start("attach", "--record", recorded)
	watcher.await("the deployment", deployed("shop", "SUCCESS"))

	// The process of the UI ends for one with output, and that one for the next.
	second := e.start("up", "--apply", "--cluster", "none", "--break", "before build")
	second.await("the repository", func(e event) bool { return e.is("component", "name", "piped", "state", "READY") })
	plain.sees(`piped  STOPPED(?s:.*)starts again|starts again(?s:.*)piped  STOPPED`)
	plain.sees(`STOPPED(?s:.*)piped  READY`)
	third := e.start("up", "--apply", "--cluster", "none", "--break", "after build")
	_, code := second.wait()
	require.Zero(t, code)
	third.await("piped", func(e event) bool { return e.is("component", "name", "piped", "state", "READY") })

	replaceAndCommit(t, repo, "hello", "hi", "shop/greeting.txt")
	watcher.await("the pause", pausedAt("shop", "build", "after"))
	plain.sees(`build  PAUSED`)
	for _, ui := range []*terminal{first, attached} {
		ui.sees(`parts, \d plugins ready`)
		ui.sees(`(?i)paused`)
	}
	require.Zero(t, e.pipedeck("continue", "shop", "build").Code)
	watcher.await("the end", func(e event) bool { return e.is("stage", "config_id", "check", "status", "SUCCESS") })

	require.Zero(t, e.pipedeck("down").Code)
	for _, ui := range []*terminal{first, attached, plain} {
		require.Zero(t, ui.wait())
	}
	for _, s := range []*stream{watcher, third} {
		_, code := s.wait()
		require.Zero(t, code, s.stderr.String())
	}
	for _, file := range []string{recorded, shown} {
		r := e.pipedeck("replay", file, "--output", "plain")
		require.Zero(t, r.Code, r.Stderr)
		require.Contains(t, r.Stdout, "PAUSED", file)
		require.Empty(t, r.Stderr, "%s is complete", file)
	}
	e.leavesNothing()
}
