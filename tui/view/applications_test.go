// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestTheStripKeepsTheCountAndTheRunningStageAtEachWidth(t *testing.T) {
	t.Parallel()
	th, stages := theme.New(theme.Options{NoColor: true}), decktest.Release().GetStages()
	const count = " 14/30"
	for width := len(count) + 3; width < 50; width++ {
		strip := ansi.Strip(Strip(th, stages, width))
		require.LessOrEqual(t, text.Width(strip), width, strip)
		require.Contains(t, strip, "●", "%d columns", width)
		require.Contains(t, strip, count, "%d columns", width)
	}
	require.Equal(t, "…✓●○… 14/30", ansi.Strip(Strip(th, stages, 11)))
	require.Equal(t, "✓✓✓✓✓✓✓✓✓✓✓✓✓✓●○○○○○○○○○○○○○○○ 14/30",
		ansi.Strip(Strip(th, stages, 36)))
}
