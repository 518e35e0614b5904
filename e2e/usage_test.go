// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestBadInputGetsAClearErrorAndTheNextStep(t *testing.T) {
	t.Parallel()
	committed := func(t *testing.T) string { return repository(t, map[string]string{"file": "x"}) }
	for name, c := range map[string]struct {
		args    func(t *testing.T) []string
		code    int
		message string
	}{
		"not a Git repository": {func(t *testing.T) []string { return []string{"up", t.TempDir()} }, 2,
			"is not a Git repository"},
		"empty repository": {func(t *testing.T) []string {
			dir := t.TempDir()
			gittest.Run(t, dir, "init", "-q", "-b", "trunk")
			return []string{"up", dir}
		}, 2, "has no commits on branch trunk yet"},
		"ci where no repository is": {func(*testing.T) []string { return []string{"ci"} }, 2,
			"add --sample hello-world"},
		"up where no repository is": {func(*testing.T) []string { return []string{"up"} }, 2,
			"add --sample hello-world"},
		"ci without applications": {func(t *testing.T) []string { return []string{"ci", committed(t)} }, 2,
			"has no application"},
		"unknown cluster": {func(*testing.T) []string {
			return []string{"up", "--sample", "hello-world",
				"--cluster", "moon"}
		}, 2, `"moon" is unknown`},
		"sample without a cluster": {func(*testing.T) []string {
			return []string{"ci", "--sample", "hello-world",
				"--cluster", "none"}
		}, 2, "need a cluster"},
		"unknown sample": {func(*testing.T) []string { return []string{"up", "--sample", "nothing"} }, 2,
			"hello-world"},
		"unknown output": {func(*testing.T) []string { return []string{"up", "--output", "xml"} }, 2,
			`"xml" is unknown`},
		"no terminal for the UI": {func(*testing.T) []string { return []string{"up", "--output", "tui"} }, 2,
			"no terminal"},
		"unknown flag":    {func(*testing.T) []string { return []string{"up", "--faster"} }, 2, "--faster"},
		"unknown command": {func(*testing.T) []string { return []string{"fly"} }, 2, "fly"},
		"plugin that is not there": {func(t *testing.T) []string {
			return []string{"up", "--sample", "hello-world", "--plugin", "wait=" + filepath.Join(t.TempDir(), "none")}
		}, 2, "does not exist"},
		"plugin that is not executable": {func(t *testing.T) []string {
			file := filepath.Join(t.TempDir(), "plugin")
			require.NoError(t, os.WriteFile(file, []byte("text"), 0o644))
			return []string{"up", "--sample", "hello-world", "--plugin", "wait=" + file}
		}, 2, "is not executable"},
		"status of nothing":  {func(*testing.T) []string { return []string{"status"} }, 3, "pipedeck up"},
		"approve of nothing": {func(*testing.T) []string { return []string{"approve"} }, 3, "pipedeck up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t)
			r := e.pipedeck(c.args(t)...)
			require.Equal(t, c.code, r.Code, r.Stderr)
			require.Contains(t, r.Stderr, c.message)
			require.Contains(t, r.Stderr, "next step:")
		})
	}
}

func TestUpWithAnotherRepositoryThanTheRunningOneSaysSoInsteadOfShowingTheOldOne(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	files := map[string]string{"one/app.pipecd.yaml": application("one", pipeline("SCRIPT_RUN", "run: echo one"))}
	watched, other := repository(t, files), repository(t, files)
	s := e.start("up", watched, "--cluster", "none")
	s.await("the first deployment", func(e event) bool { return e.is("deployment", "app", "one", "status", "SUCCESS") })

	r := e.pipedeck("up", other, "--output", "plain")
	require.Equal(t, 2, r.Code, r.Stderr)
	require.Contains(t, r.Stderr, "watches "+watched)
	require.Contains(t, r.Stderr, "next step:")
	require.Contains(t, r.Stderr, "--name")

	r = e.pipedeck("up", filepath.Join(t.TempDir(), "none"))
	require.Equal(t, 2, r.Code, "a directory that does not exist")

	again := e.start("up", watched, "--cluster", "none")
	again.await("the same one is shown", func(e event) bool { return e.is("application", "name", "one") })
}

func TestAPluginThatEndsAtOnceIsShownWithItsLastWordsAndHurtsNoOther(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	broken := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(broken, []byte("#!/bin/sh\necho 'no licence found in the drawer' >&2\nexit 9\n"),
		0o755))
	repo := repository(t, map[string]string{
		"fine/app.pipecd.yaml": application("fine", pipeline("SCRIPT_RUN", "run: echo fine")),
		"sad/app.pipecd.yaml":  application("sad", pipeline("WAIT", "duration: 1s")),
	})
	s := e.start("up", repo, "--cluster", "none", "--plugin", "wait="+broken)
	s.await("the other plugin works", func(e event) bool {
		return e.is("deployment", "app", "fine", "status",
			"SUCCESS")
	})
	s.await("the broken one makes its application fail",
		func(e event) bool { return e.is("deployment", "app", "sad", "status", "FAILURE") })
	waitUntil(t, "the plugin's last words", func() bool {
		for _, p := range e.list("plugins") {
			if p["name"] == "wait" {
				last, _ := p["last_output"].([]any)
				return len(last) > 0 && last[len(last)-1] == "no licence found in the drawer"
			}
		}
		return false
	})
}

func TestAnUnknownStageIsRefusedWithTheNameThatIsMeant(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{"typo/app.pipecd.yaml": application("typo",
		pipeline("WIAT", "duration: 1s"))})
	r := e.pipedeck("ci", repo, "--cluster", "none")
	require.Equal(t, 2, r.Code, r.Stderr)
	require.Regexp(t, `typo/app\.pipecd\.yaml:\d+:\d+: .*the stage "WIAT"; did you mean "WAIT"\?`, r.Stderr)
}

func TestAnUnknownPluginIsRefusedWithTheNameThatIsMeant(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"typo/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: typo\n" +
			"  plugins:\n    kuberntes: {}\n",
	})
	r := e.pipedeck("ci", repo, "--cluster", "embedded")
	require.Equal(t, 2, r.Code, r.Stderr)
	require.Regexp(t, `typo/app\.pipecd\.yaml:\d+:\d+: .*the plugin "kuberntes" .*did you mean "kubernetes"\?`,
		r.Stderr)
}

func TestAPortThatAnotherProcessTookIsReplaced(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{"a/app.pipecd.yaml": application("a",
		pipeline("SCRIPT_RUN", "run: 'true'"))})
	first := e.start("up", repo, "--cluster", "none")
	deployed := func(e event) bool { return e.is("deployment", "app", "a", "status", "SUCCESS") }
	first.await("it deploys", deployed)
	first.interrupt()
	_, code := first.wait()
	require.Equal(t, 130, code)
	last, err := os.ReadFile(e.Dir("address"))
	require.NoError(t, err)
	taken, err := net.Listen("tcp", strings.TrimSpace(string(last)))
	if !errors.Is(err, syscall.EADDRINUSE) { // else another process has taken it indeed
		require.NoError(t, err)
		defer taken.Close()
	}

	again := e.start("up", repo, "--cluster", "none")
	again.await("it deploys all the same", deployed)
}

func TestASecondUserSeesTheRunningEnvironment(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{"a/app.pipecd.yaml": application("a", pipeline("WAIT", "duration: 1h"))})
	host := e.start("up", repo, "--cluster", "none")
	running := func(e event) bool { return e.is("stage", "name", "WAIT", "status", "RUNNING") }
	host.await("the stage runs", running)

	second := e.start("attach")
	second.await("it is seen from elsewhere", running)
	third := e.start("up", repo, "--cluster", "none")
	third.await("up attaches to what runs", running)
	for _, table := range []string{"status", "apps", "deployments", "plugins"} {
		r := e.pipedeck(table)
		require.Zero(t, r.Code, r.Stderr)
		require.NotEmpty(t, r.Stdout)
	}
	require.Contains(t, e.pipedeck("logs", "--plugin", "wait").Stdout, "plugin is ready")
	require.Equal(t, 2, e.pipedeck("logs", "--plugin", "nothing").Code)
	require.Equal(t, 2, e.pipedeck("approve").Code, "nothing waits for an approval")
	require.Zero(t, e.pipedeck("skip", "WAIT").Code)
	host.await("the skipped stage ends", func(e event) bool {
		return e.is("deployment", "app", "a", "status",
			"SUCCESS")
	})

	require.Zero(t, e.pipedeck("sync", "a").Code)
	waitUntil(t, "the second deployment runs", func() bool {
		return len(e.list("deployments")) == 2 && e.newestDeployment("a")["status"] == "RUNNING"
	})
	require.Zero(t, e.pipedeck("cancel", e.newestDeployment("a")["id"].(string)).Code)
	e.awaitDeployment("a", "CANCELLED")
	require.Zero(t, e.pipedeck("restart", "wait").Code)
	waitUntil(t, "the plugin was restarted", func() bool {
		for _, p := range e.list("plugins") {
			if p["name"] == "wait" {
				return p["restarts"].(float64) >= 1 && p["state"] == "RUNNING"
			}
		}
		return false
	})
	require.Zero(t, e.pipedeck("down").Code)
	for _, s := range []*stream{host, second, third} {
		_, code := s.wait()
		require.Zero(t, code)
	}
	e.leavesNothing()
}

// pipeline is a spec with one stage that always runs.
func pipeline(stage, with string) string {
	return "  planner:\n    alwaysUsePipeline: true\n  pipeline:\n    stages:\n      - name: " + stage +
		"\n        with:\n          " + with + "\n"
}
