// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster/kind"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// command runs a command line as a user would who keeps environments in stateDir.
func command(ctx context.Context, stateDir string, args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	code = run(ctx, append(args, "--state-dir", stateDir), &out, &errOut)
	return code, out.String(), errOut.String()
}

func TestWrongUsageAndMissingEnvironmentsHaveTheirExitCodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"unknown command": {[]string{"frobnicate"}, exitUsage, "unknown command"},
		"unknown flag":    {[]string{"up", "--bogus"}, exitUsage, "--bogus"},
		"where the flags are": {[]string{"up", "--timeout", "5m"}, exitUsage,
			"next step: see pipedeck up --help"},
		"missing argument":           {[]string{"sync"}, exitUsage, "accepts 1 arg"},
		"name that cannot be":        {[]string{"status", "--name", "UPPER"}, exitUsage, "lower-case letters"},
		"name that leaves the place": {[]string{"down", "--name", "../x"}, exitUsage, "lower-case letters"},
		"unknown output of up": {[]string{"up", "--output", "weird"}, exitUsage,
			"use tui, plain, reader or json"},
		"unknown output of a table":    {[]string{"apps", "-o", "yaml"}, exitUsage, "use -o json"},
		"a terminal that is not there": {[]string{"up", "--output", "tui"}, exitUsage, "use --output plain"},
		"a directory that is not there": {[]string{"up", "--output", "plain", "/no/such/dir"}, exitUsage,
			"pipedeck up DIR"},
		"unknown sample":               {[]string{"ci", "--sample", "nothing"}, exitUsage, "known are"},
		"directory and sample":         {[]string{"ci", "/", "--sample", "hello-world"}, exitUsage, "not both"},
		"status of nothing":            {[]string{"status"}, exitNotStarted, "start it with: pipedeck up"},
		"open nothing":                 {[]string{"open"}, exitUsage, "accepts 1 arg"},
		"open of nothing":              {[]string{"open", "web"}, exitNotStarted, "start it with: pipedeck up"},
		"unknown output of open":       {[]string{"open", "web", "-o", "yaml"}, exitUsage, "use -o json"},
		"encrypt for nobody":           {[]string{"encrypt"}, exitNotStarted, "start it with: pipedeck up"},
		"a secret on the command line": {[]string{"encrypt", "name", "secret"}, exitUsage, "accepts at most 1 arg"},
		"a secret without a name": {[]string{"encrypt", "my-secret"}, exitUsage,
			"letters, digits and underscores"},
		"logs of nothing": {[]string{"logs"}, exitNotStarted, "start it with: pipedeck up"},
		"attach to nothing": {[]string{"attach", "--output", "plain"}, exitNotStarted,
			"start it with: pipedeck up"},
		"log outside of the logs": {[]string{"logs", "--plugin", "../../etc/passwd"}, exitUsage,
			"not the name of a plugin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "state")
			code, stdout, stderr := command(t.Context(), dir, c.args...)
			require.Equal(t, c.code, code, stderr)
			require.Contains(t, stderr, c.says)
			require.Contains(t, stderr, "next step: ")
			require.Empty(t, stdout)
			require.NoDirExists(t, dir, "nothing was made")
		})
	}
}

func TestLogsOfAnUnknownPluginListTheOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := workspace.At(dir, "default")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, os.WriteFile(filepath.Join(w.PluginLogsDir(), "wait.log"), []byte("hello\n"), 0o600))
	code, _, stderr := command(t.Context(), dir, "logs", "--plugin", "nope")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "plugin \"nope\" has written nothing\nnext step: choose one of: [wait]")
	code, stdout, _ := command(t.Context(), dir, "logs", "--plugin", "wait")
	require.Zero(t, code)
	require.Equal(t, "hello\n", stdout)
}

func TestDownOfNothingIsFine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"down"}, {"down", "--all"}} {
		code, stdout, _ := command(t.Context(), filepath.Join(t.TempDir(), "state"), args...)
		require.Zero(t, code)
		require.Contains(t, stdout, "there is no environment")
	}
}

func TestErrorsOfAnEnvironmentHaveTheirExitCodes(t *testing.T) {
	t.Parallel()
	running := context.Background()
	interrupted, cancel := context.WithCancel(running)
	cancel()
	late, cancel := context.WithDeadline(running, time.Unix(0, 0))
	defer cancel()
	start := &env.StartError{Component: "piped", Err: errors.New("no port"), Hint: "free one"}
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		code int
	}{
		"could not start": {running, fmt.Errorf("up: %w", start), exitNotStarted},
		"kind's file is wrong": {running,
			&env.StartError{Err: &kind.ConfigError{File: "kind.yaml", Problem: "is empty"}}, exitUsage},
		"runs already":                 {running, workspace.ErrLocked, exitNotStarted},
		"repository cannot be watched": {running, &env.StartError{Err: &workspace.RepositoryError{}}, exitUsage},
		"its own code wins":            {interrupted, usageError(errors.New("x"), ""), exitUsage},
		"interrupted":                  {interrupted, context.Canceled, exitInterrupted},
		"interrupted while starting":   {interrupted, start, exitInterrupted},
		"timed out":                    {late, errors.New("rpc error: deadline"), exitTimedOut},
		"anything else":                {running, errors.New("x"), exitNotStarted},
	} {
		var exit *exitError
		require.ErrorAs(t, explain(c.ctx, c.err), &exit, name)
		require.Equal(t, c.code, exit.code, name)
	}
	require.NoError(t, explain(interrupted, nil))
}

// repository makes one whose only application has the given configuration.
func repository(t *testing.T, application string) string {
	t.Helper()
	dir := t.TempDir()
	_, err := git.PlainInit(dir, false)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "app.pipecd.yaml"), []byte(application), 0o600))
	commitAll(t, dir)
	return dir
}

// commitAll commits everything that has changed in a repository.
func commitAll(t *testing.T, dir string) {
	t.Helper()
	repo, err := git.PlainOpen(dir)
	require.NoError(t, err)
	tree, err := repo.Worktree()
	require.NoError(t, err)
	require.NoError(t, tree.AddWithOptions(&git.AddOptions{All: true}))
	_, err = tree.Commit("change", &git.CommitOptions{Author: &object.Signature{Name: "a", Email: "a@example.com",
		When: time.Unix(1, 0)}})
	require.NoError(t, err)
}

const goodApplication = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n" +
	"  plugins: {kubernetes: {}}\n"

// ci is a command line whose agent and plugins do nothing.
func ci(t *testing.T, repository string, args ...string) []string {
	t.Helper()
	nothing, err := exec.LookPath("true")
	require.NoError(t, err)
	all := []string{"ci", repository, "--cluster", "none", "--name", "test", "--output", "plain", "--piped", nothing}
	for _, name := range bundledPlugins {
		all = append(all, "--plugin", name+"="+nothing)
	}
	return append(all, args...)
}

func TestCIThatIsInterruptedOrLateIsNoSuccessAndLeavesNothing(t *testing.T) {
	t.Parallel()
	repo := repository(t, goodApplication)
	dir := filepath.Join(t.TempDir(), "state")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	code, _, stderr := command(ctx, dir, ci(t, repo)...)
	require.Equal(t, exitInterrupted, code, stderr)
	require.NoDirExists(t, dir)

	code, _, stderr = command(t.Context(), dir, ci(t, repo, "--timeout", "1ns")...)
	require.Equal(t, exitTimedOut, code, stderr)
	require.NoDirExists(t, dir)
}

func TestCIWithABrokenConfigurationRemovesOnlyWhatItMade(t *testing.T) {
	t.Parallel()
	repo := repository(t, "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  timeout: soon\n")
	dir := filepath.Join(t.TempDir(), "state")
	code, _, stderr := command(t.Context(), dir, ci(t, repo)...)
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "app.pipecd.yaml:4:")
	require.NoDirExists(t, dir)

	work := filepath.Join(dir, "test", "repository", "work")
	require.NoError(t, os.MkdirAll(work, 0o700))
	code, _, _ = command(t.Context(), dir, ci(t, repo)...)
	require.Equal(t, exitUsage, code)
	require.DirExists(t, work, "what was there before stays")
}
