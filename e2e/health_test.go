// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/e2e/drive"
)

// awaitStatus waits until `pipedeck status` ends with the code.
func (e *environment) awaitStatus(code int) (r drive.Result) {
	e.t.Helper()
	require.Eventually(e.t, func() bool { r = e.pipedeck("status", "-o", "json"); return r.Code == code }, patience,
		100*time.Millisecond)
	return r
}

// problem returns the next step for the one problem of an environment, which is of a part.
func (e *environment) problem(part string) string {
	e.t.Helper()
	var shown struct {
		Problems []struct {
			Part     string `json:"part"`
			NextStep string `json:"next_step"`
		} `json:"problems"`
	}
	r := e.awaitStatus(5)
	require.NoError(e.t, json.Unmarshal([]byte(r.Stdout), &shown))
	require.Len(e.t, shown.Problems, 1, r.Stdout)
	require.Equal(e.t, part, shown.Problems[0].Part)
	return shown.Problems[0].NextStep
}

func TestStatusEndsWith5WhileAPartHangsAndWith0AfterItsNextStep(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.start("up", "--sample", "hello-world", "--cluster", "embedded")
	s.await("the application is deployed", func(ev event) bool {
		return ev.is("deployment", "app", "hello-world-quick",
			"status", "SUCCESS")
	})
	e.awaitStatus(0)
	for child, part := range map[string]string{"kubernetes": "kubernetes", "piped": "piped"} {
		pid := e.child(child)
		require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
		next := e.problem(part)
		require.Contains(t, next, "kill -9", "the next step is a command")
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		e.awaitStatus(0)
	}
	for _, problem := range []string{"kubernetes", "piped"} {
		s.await("the problem is shown", func(ev event) bool {
			return ev.is("problem", "part", problem, "state",
				"DEGRADED")
		})
		s.await("and its end", func(ev event) bool { return ev.is("problem", "part", problem, "state", "CLEARED") })
	}
}

func TestCIEndsWith5WhenAPartIsDegraded(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{"web/app.pipecd.yaml": application("web",
		pipeline("WAIT", "duration: 1ms"))})
	broken := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(broken, []byte("#!/bin/sh\necho out of luck >&2\nexit 3\n"), 0o755))
	r := e.pipedeck("ci", repo, "--cluster", "none", "--plugin", "broken="+broken, "--output", "json")
	require.Equal(t, 5, r.Code, r.Stderr)
	require.Contains(t, r.Stderr, "plugin broken: quarantined")
	require.Contains(t, r.Stderr, "next step: fix the program")
	events := parse(t, r.Stdout)
	require.EqualValues(t, 5, events[len(events)-1]["exit_code"])
	require.True(t, has(events, func(ev event) bool { return ev.is("deployment", "app", "web", "status", "SUCCESS") }))
}
