// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/more"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// command runs a command line as a user would who keeps environments in stateDir.
var command = clitest.Program(run).Run

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
			clitest.Program(run).RequireRefusal(t, c.code, c.says, c.args...)
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
			if !c.Hidden {
				said[c.Use] = c.Short
			}
		}
		return said
	}
	require.Equal(t, lines(newRootCommand(&session.Target{}).Commands()), lines(more.Commands()))
}

// Help lists commands with one line each: an imperative that fits next to the name.
func TestTheFirstLineOfEachHelpIsShort(t *testing.T) {
	t.Parallel()
	require.Greater(t, clitest.RequireShortHelp(t, newRootCommand(&session.Target{})), 12)
}
