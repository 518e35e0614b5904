// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Program is the main function of a program with its exit code.
type Program func(ctx context.Context, args []string, stdout, stderr io.Writer) int

// Run executes a command line as a user would who keeps environments in stateDir.
func (p Program) Run(ctx context.Context, stateDir string, args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	code = p(ctx, append(args, "--state-dir", stateDir), &out, &errOut)
	return code, out.String(), errOut.String()
}

// RequireRefusal runs a command line that must fail before anything is created, with an exit code, and with an error
// that contains a text and ends with a next step.
func (p Program) RequireRefusal(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	got, stdout, stderr := p.Run(t.Context(), dir, args...)
	require.Equal(t, code, got, stderr)
	require.Contains(t, stderr, says)
	require.Contains(t, stderr, "next step: ")
	require.Empty(t, stdout)
	require.NoDirExists(t, dir, "nothing was made")
}

// RequireShortHelp checks the first line of the help of a command and of all below it: an imperative that fits next to
// the name. It returns the number of commands.
func RequireShortHelp(t *testing.T, c *cobra.Command) (commands int) {
	t.Helper()
	require.NotEmpty(t, c.Short, c.CommandPath())
	require.LessOrEqual(t, len(c.Short), 60, "%s: %s", c.CommandPath(), c.Short)
	require.Regexp(t, `^[A-Z].*[^.]$`, c.Short, c.CommandPath())
	for _, sub := range c.Commands() {
		commands += RequireShortHelp(t, sub)
	}
	return commands + 1
}
