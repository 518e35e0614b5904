// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/text"
)

// widthPieces are what lines are made of, and what is hard to measure.
var widthPieces = []string{
	"a", "word ", "│", "──╮", "●", "▶", "◽", "✓", "✗", "…", "·", "»", "→", "↑", "↓", "←",
	"⚡", "é", "e\u0301", "─\u0301", "日本", "👍🏽",
	"👨\u200d👩\u200d👧", "🇩🇪", "▶\ufe0f", "1\ufe0f\u20e3", "a\u200d", "\u00ad",
	"각", "ᄀ", "\x1b[m", "\x1b[1;38;2;1;2;3m",
	"\x1b[4:3m", "\x1b[", "\x1b[2J", "\x1b]0;title\x07", "\x1b", "\x1bM", "\x1b[?25h", "\t", "\n", "\r", "\x7f",
	"\x80", "\x9b1m", "\xff", "\xe2\x94", "\xc3",
}

func checkWidth(t *testing.T, s string) {
	t.Helper()
	require.Equalf(t, ansi.StringWidth(s), text.Width(s), "%q", s)
	require.Equalf(t, ansi.StringWidthWc(s), text.WidthBy(ansi.WcWidth, s), "%q", s)
}

func TestWidthIsThatOfPackageANSI(t *testing.T) {
	t.Parallel()
	checkWidth(t, "")
	random := rand.New(rand.NewPCG(7, 1))
	for range 20_000 {
		var s strings.Builder
		for range random.IntN(6) {
			s.WriteString(widthPieces[random.IntN(len(widthPieces))])
		}
		checkWidth(t, s.String())
	}
}

func FuzzWidth(f *testing.F) {
	for _, piece := range widthPieces {
		f.Add(piece + "a─" + piece)
	}
	f.Fuzz(checkWidth)
}

func BenchmarkWidth(b *testing.B) {
	part := "\x1b[38;2;126;226;160m✓\x1b[m \x1b[1mpayments-eu\x1b[m  "
	line := "│ " + strings.Repeat(part, 4) + strings.Repeat(" ", 40) + "│"
	for b.Loop() {
		text.Width(line)
	}
}

func TestNoWrappedLineIsWiderThanAsked(t *testing.T) {
	t.Parallel()
	said := "cannot open the application: the cluster is simulated, no container runs; use --cluster kind"
	for width := 20; width < len(said)+2; width++ {
		for _, line := range text.Wrap(said, width) {
			require.LessOrEqual(t, text.Width(line), width, line)
		}
	}
}

func TestAWrappedNameStaysWhole(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"waits for", "web-7d9f-xk2l"}, text.Wrap("waits for web-7d9f-xk2l", 14))
	require.Equal(t, []string{"\x1b[1mweb-7d9f", "-xk2l\x1b[m"}, text.Wrap("\x1b[1mweb-7d9f-xk2l\x1b[m", 8),
		"a name that is wider than the line")
}
