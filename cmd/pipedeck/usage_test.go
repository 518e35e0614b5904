// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/root"
)

// command runs a command line as a user would who keeps environments in stateDir.
var command = clitest.Program(root.Run).Run

func TestWrongUsageAndMissingEnvironmentsHaveTheirExitCodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"unknown command": {[]string{"frobnicate"}, exit.WrongUsage, "unknown command"},
		"unknown flag":    {[]string{"up", "--bogus"}, exit.WrongUsage, "--bogus"},
		"where the flags are": {[]string{"up", "--timeout", "5m"}, exit.WrongUsage,
			"next step: see pipedeck up --help"},
		"missing argument":           {[]string{"sync"}, exit.WrongUsage, "takes 1 argument, got none"},
		"name that cannot be":        {[]string{"status", "--name", "UPPER"}, exit.WrongUsage, "lower-case letters"},
		"name that leaves the place": {[]string{"down", "--name", "../x"}, exit.WrongUsage, "lower-case letters"},
		"unknown output of up": {[]string{"up", "--output", "weird"}, exit.WrongUsage,
			"use tui, plain, reader or json"},
		"unknown output of a table": {[]string{"apps", "-o", "xml"}, exit.WrongUsage,
			"use -o wide, -o name, -o json, -o yaml, or nothing"},
		"a terminal that is not there": {[]string{"up", "--output", "tui"}, exit.WrongUsage, "use --output plain"},
		"a directory that is not there": {[]string{"up", "--output", "plain", "/no/such/dir"}, exit.WrongUsage,
			"give the path of a Git repository"},
		"unknown sample": {[]string{"ci", "--sample", "nothing"}, exit.WrongUsage, "known are"},
		"directory and sample": {[]string{"ci", "/", "--sample", "hello-world"}, exit.WrongUsage,
			"give a directory or --sample, not both\nnext step: see pipedeck ci --help\n"},
		"unknown output of ci": {[]string{"ci", "--output", "foo"}, exit.WrongUsage,
			"next step: use plain, reader or json\n"},
		"a change of nothing": {[]string{"ci", "--changed"}, exit.WrongUsage,
			"next step: add --from, for example --from origin/main\n"},
		"a base without a name": {[]string{"ci", "--from", ""}, exit.WrongUsage, "--from is empty"},
		"an approval of another kind": {[]string{"ci", "--approve", "yes"}, exit.WrongUsage,
			"next step: use auto, as:NAME or never\n"},
		"an approval of no one":  {[]string{"ci", "--approve", "as:"}, exit.WrongUsage, "names no one"},
		"a wait of another kind": {[]string{"ci", "--wait", "short"}, exit.WrongUsage, "next step: use fast or full\n"},
		"status of nothing":      {[]string{"status"}, exit.NotStarted, "start it with: pipedeck up"},
		"open nothing":           {[]string{"open"}, exit.WrongUsage, "takes 1 argument, got none"},
		"open of nothing":        {[]string{"open", "web"}, exit.NotStarted, "start it with: pipedeck up"},
		"unknown output of open": {[]string{"open", "web", "-o", "yaml"}, exit.WrongUsage, "use -o json"},
		"all and one": {[]string{"down", "--all", "--name", "x"}, exit.WrongUsage,
			"give --all or --name, not both"},
		"help about nothing": {[]string{"help", "foo"}, exit.WrongUsage, `unknown command "foo" for "pipedeck"`},
		"help about no part": {[]string{"help", "piped", "foo"}, exit.WrongUsage,
			`unknown command "foo" for "pipedeck piped"`},
		"completion of no shell": {[]string{"completion", "foo"}, exit.WrongUsage,
			`unknown command "foo" for "pipedeck completion"`},
		"part that is not there": {[]string{"piped", "foo"}, exit.WrongUsage,
			`unknown command "foo" for "pipedeck piped"`},
		"two flags for opposite things": {[]string{"cancel", "x", "--rollback", "--no-rollback"}, exit.WrongUsage,
			"pipedeck: give only one of --no-rollback, --rollback\n"},
		"theme with plain output": {[]string{"attach", "--theme", "bad", "--output", "plain"}, exit.WrongUsage,
			`unknown theme "bad"`},
		"theme of up": {[]string{"up", "--theme", "nosuch", "--output", "plain"}, exit.WrongUsage,
			`unknown theme "nosuch"`},
		"keys with plain output": {[]string{"attach", "--keys", "nosuch", "--output", "plain"}, exit.WrongUsage,
			"nosuch"},
		"logs of nothing": {[]string{"logs"}, exit.NotStarted, "start it with: pipedeck up"},
		"attach to nothing": {[]string{"attach", "--output", "plain"}, exit.NotStarted,
			"start it with: pipedeck up"},
		"log outside of the logs": {[]string{"logs", "--plugin", "../../etc/passwd"}, exit.WrongUsage,
			"not the name of a plugin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.Program(root.Run).RequireRefusal(t, c.code, c.says, c.args...)
		})
	}
}

func TestHelpAndVersionEndWell(t *testing.T) {
	t.Parallel()
	_, version, _ := command(t.Context(), t.TempDir(), "version")
	require.Regexp(t, `^pipedeck \S+ \(go.*/.*\)\n$`, version)
	for args, says := range map[string]string{
		"--version": version, "help": "pipedeck [command]", "help up": "pipedeck up [DIR]",
		"completion": "Available Commands", "piped": "register",
		"completion bash": "bash completion",
	} {
		code, stdout, stderr := command(t.Context(), t.TempDir(), strings.Fields(args)...)
		require.Zero(t, code, args)
		require.Contains(t, stdout, says, args)
		require.Empty(t, stderr, args)
	}
}
