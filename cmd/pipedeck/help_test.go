// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

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
	require.Greater(t, seen, 20)
}
