// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// brokenInto is an application that writes down what it runs.
func brokenInto(name, file string) string {
	return application(name, `  planner: {alwaysUsePipeline: true}
  pipeline:
    stages:
      - id: build
        name: SCRIPT_RUN
        with:
          run: cat greeting.txt >> `+file+`
          onRollback: echo undone >> `+file+`
      - id: check
        name: WAIT
        with: {duration: 10ms}
`)
}

// pausedAt finds the pause of a stage in the events.
func pausedAt(app, stage, when string) func(event) bool {
	return func(e event) bool {
		pause, _ := e["pause"].(map[string]any)
		return e.is("stage", "app", app, "config_id", stage) && pause["when"] == when
	}
}

func TestAnAuthorPausesAtAStageEditsItKillsPipedAndAborts(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := filepath.Join(t.TempDir(), "ran")
	repo := repository(t, map[string]string{
		"shop/app.pipecd.yaml": brokenInto("shop", file), "shop/greeting.txt": "hello\n",
	})
	s := e.start("up", repo, "--cluster", "none", "--break", "before build")
	s.await("the pause", pausedAt("shop", "build", "before"))
	require.NoFileExists(t, file, "nothing has run")

	// The directory of the pause is that of the stage.
	dir := strings.TrimSpace(e.pipedeck("shell", "--print-dir").Stdout)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "greeting.txt"), []byte("changed\n"), 0o600))
	shell := e.command("shell", "shop")
	shell.Env = append(shell.Env, "SHELL=/bin/sh")
	shell.Stdin = strings.NewReader("pwd; echo at $PIPEDECK_STAGE_NAME; cat greeting.txt\n")
	said, err := shell.Output()
	require.NoError(t, err)
	require.Equal(t, dir+"\nat build\nchanged\n", string(said))

	// Options are checked.
	wrong := e.command("continue", "--with", "-")
	wrong.Stdin = strings.NewReader("run: 3\n")
	said, err = wrong.CombinedOutput()
	require.Equal(t, 1, exitCode(t, err), string(said))
	require.Contains(t, string(said), "stage build of shop stays paused: the options are wrong: run: 3 is not text")
	// A piped that is killed stops there again.
	old := e.child("piped")
	require.NoError(t, syscall.Kill(old, syscall.SIGKILL))
	s.await("the pause of the next piped", func(ev event) bool {
		detail, _ := ev["detail"].(string)
		return ev.is("component", "name", "piped", "state", "READY") && !strings.Contains(detail, strconv.Itoa(old))
	})

	options := filepath.Join(t.TempDir(), "with.yaml")
	require.NoError(t, os.WriteFile(options, []byte("run: cat greeting.txt greeting.txt >> "+file+
		"\nonRollback: echo undone >> "+file+"\n"), 0o600))
	require.Zero(t, e.pipedeck("continue", "shop", "build", "--with", options).Code)
	s.await("the end", deployed("shop", "SUCCESS"))
	ran, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "hello\nhello\n", string(ran), "it ran once, as edited, in the source of the next piped")
	require.Contains(t, e.pipedeck("logs", "shop", "--stage", "build").Stdout, "options edited at a breakpoint by ")

	// After the stage: once more, then an end of the deployment.
	require.Zero(t, e.pipedeck("break", "--clear").Code)
	require.Zero(t, e.pipedeck("break", "shop", "build", "--after").Code)
	require.Zero(t, e.pipedeck("sync", "shop").Code)
	s.await("the pause after it", pausedAt("shop", "build", "after"))
	require.Zero(t, e.pipedeck("continue", "--again").Code)
	s.await("the second pause", func(ev event) bool {
		return pausedAt("shop", "build", "after")(ev) && ev["attempt"] == 2.0
	})
	var paused struct{ Paused []struct{ Result string } }
	require.NoError(t, json.Unmarshal([]byte(e.pipedeck("break", "show", "-o", "json").Stdout), &paused))
	require.Equal(t, "success", paused.Paused[0].Result)
	require.Zero(t, e.pipedeck("continue", "--abort").Code)
	s.await("the cancelled deployment", deployed("shop", "CANCELLED"))
	ran, err = os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "hello\nhello\nhello\nhello\nundone\n", string(ran), "and it was rolled back")
}
