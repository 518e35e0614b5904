// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"math/rand/v2"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/text"
)

// drawnLines are lines of styled text, exactly width columns each.
func drawnLines(random *rand.Rand, width, height int, words []string) string {
	styles := []string{"", "\x1b[1m", "\x1b[38;2;126;226;160m", "\x1b[1;48;5;17m", "\x1b[4m"}
	lines := make([]string, height)
	for i := range lines {
		var line strings.Builder
		for range random.IntN(8) {
			style := styles[random.IntN(len(styles))]
			line.WriteString(style + words[random.IntN(len(words))])
			if style != "" {
				line.WriteString(ansi.ResetStyle)
			}
		}
		lines[i] = text.Pad(line.String(), width, "")
	}
	return strings.Join(lines, "\n")
}

// composed is what a compositor of cells draws.
func composed(base, top string, x, y int) string {
	return lipgloss.NewCompositor(lipgloss.NewLayer(base), lipgloss.NewLayer(top).X(x).Y(y).Z(1)).Render()
}

func TestWhatStandsOverTheScreenCoversItsCellsOnly(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(21, 3))
	words := []string{"a", "word ", "│", "──╮", "● ", "é", "e\u0301",
		"two words", "日本", "👍🏽 ", "🇩🇪", "각 "}
	for range 500 {
		width, height := 8+random.IntN(40), 2+random.IntN(6)
		w, h := 1+random.IntN(width), 1+random.IntN(height)
		x, y := random.IntN(width-w+1), random.IntN(height-h+1)
		base, top := drawnLines(random, width, height, words[:8]), drawnLines(random, w, h, words)
		drawn := At(base, top, x, y, width, height)
		require.Equalf(t, composed(base, top, x, y), lipgloss.NewCompositor(lipgloss.NewLayer(drawn)).Render(),
			"%q over %q", top, base)

		wide := drawnLines(random, width, height, words)
		for i, line := range strings.Split(At(wide, top, x, y, width, height), "\n") {
			require.Equalf(t, width, ansi.StringWidth(line), "%q over %q", top, wide)
			if i >= y && i < y+h {
				require.Contains(t, line, strings.Split(top, "\n")[i-y])
			}
		}
	}
}

func TestWhatDoesNotFitOverTheScreenIsCut(t *testing.T) {
	t.Parallel()
	require.Equal(t, "....\n..ab\n..de", At("....\n....\n....", "abc\ndef\nghi", 2, 1, 4, 3))
	require.Equal(t, "abcd", Over("....", "abcdef\nghijkl", 4, 1))
}
