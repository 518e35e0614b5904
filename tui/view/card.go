// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Card says what runs and which keys come next. It stands over panes and takes no key from them, except the one that
// hides it.
type Card struct {
	Theme theme.Theme
	Title string
	Rows  []CardRow
	// Hide is the key that hides it.
	Hide string
}

// CardRow is a key and what it does, or without a key words alone; the zero value is a blank line.
type CardRow struct {
	Key, Text string
	// Good marks words about a success.
	Good bool
}

// Draw returns the card: width columns wide, as high as it has to be and at most height lines.
func (v Card) Draw(width, height int) string {
	th, inner := v.Theme, width-4
	keys := 0
	for _, row := range v.Rows {
		keys = max(keys, text.Width(row.Key))
	}
	lines := []string{""}
	for _, row := range v.Rows {
		if row == (CardRow{}) {
			lines = append(lines, "")
			continue
		}
		lead := ""
		switch {
		case row.Key != "":
			lead = th.Key.Render(text.Pad(row.Key, keys, "")) + "  "
		case row.Good:
			lead = th.Tones.Good.Sign(th.Done) + " "
		}
		indent := text.Width(lead)
		for i, line := range text.Wrap(row.Text, max(1, inner-indent)) {
			if i > 0 {
				lead = strings.Repeat(" ", indent)
			}
			lines = append(lines, " "+lead+line)
		}
	}
	hide := th.Dim.Render(v.Hide + " hides this card")
	lines = append(lines, "", strings.Repeat(" ", max(0, inner-text.Width(hide)))+" "+hide)
	if over := len(lines) + 2 - height; over > 0 {
		lines = withoutBlanks(lines, over)
	}
	return box{theme: th, title: v.Title, focused: true}.draw(lines, width, min(len(lines)+2, height))
}

// withoutBlanks leaves up to n blank lines out, the last ones first.
func withoutBlanks(lines []string, n int) []string {
	kept := make([]string, 0, len(lines))
	for i := len(lines) - 1; i >= 0; i-- {
		if n > 0 && lines[i] == "" {
			n--
			continue
		}
		kept = append(kept, lines[i])
	}
	slices.Reverse(kept)
	return kept
}
