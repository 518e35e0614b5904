// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/more"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// command runs a command line as a user would who keeps environments in stateDir.
func command(ctx context.Context, stateDir string, args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	code = run(ctx, append(args, "--state-dir", stateDir), &out, &errOut)
	return code, out.String(), errOut.String()
}

func TestWrongUsageHasItsExitCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"encrypt without environment": {[]string{"encrypt"}, exit.NotStarted, "start it with: pipedeck up"},
		"a secret on the command line": {[]string{"encrypt", "name", "secret"}, exit.WrongUsage,
			"takes at most 1 argument, got 2"},
		"a secret without a name": {[]string{"encrypt", "my-secret"}, exit.WrongUsage,
			"letters, digits and underscores"},
		"help about no part": {[]string{"help", "plugin", "foo"}, exit.WrongUsage,
			`unknown command "foo" for "pipedeck plugin"`},
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
	code, stdout, _ := command(t.Context(), t.TempDir(), "help", "plugin", "new")
	require.Zero(t, code)
	require.Contains(t, stdout, "pipedeck plugin new")
}

func TestPipedeckListsTheCommandsOfThisProgram(t *testing.T) {
	t.Parallel()
	lines := func(commands []*cobra.Command) map[string]string {
		said := map[string]string{}
		for _, c := range commands {
			said[c.Use] = c.Short
		}
		return said
	}
	require.Equal(t, lines(newRootCommand(&session.Target{}).Commands()), lines(more.Commands()))
}

// Help lists commands with one line each: an imperative that fits next to the name.
func TestTheFirstLineOfEachHelpIsShort(t *testing.T) {
	t.Parallel()
	seen := 0
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		seen++
		require.NotEmpty(t, c.Short, c.CommandPath())
		require.LessOrEqual(t, len(c.Short), 60, "%s: %s", c.CommandPath(), c.Short)
		require.Regexp(t, `^[A-Z].*[^.]$`, c.Short, c.CommandPath())
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand(&session.Target{}))
	require.Greater(t, seen, 12)
}
