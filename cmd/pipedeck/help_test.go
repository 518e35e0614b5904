// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/root"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// Help lists commands with one line each: an imperative that fits next to the name.
func TestTheFirstLineOfEachHelpIsShort(t *testing.T) {
	t.Parallel()
	require.Greater(t, clitest.RequireShortHelp(t, root.New(&session.Target{})), 20)
}
