// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Card says what runs and which keys come next. It stands below panes and takes no key from them, except the one that
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

// Height is how many lines Draw needs, at most most; blank lines yield first.
func (v Card) Height(width, most int) int { return min(1+len(v.lines(width)), most) }

// Draw returns width columns and height lines.
func (v Card) Draw(width, height int) string {
	lines := v.lines(width)
	if over := len(lines) + 1 - height; over > 0 {
		lines = withoutBlanks(lines, over)
	}
	hide := v.Theme.Dim.Render(v.Hide + " hides this card")
	return box{theme: v.Theme, title: v.Title, right: hide, focused: true}.titled(lines, width, height)
}

// lines are what stands below the title.
func (v Card) lines(width int) []string {
	th, keys := v.Theme, 0
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
		for i, line := range text.Wrap(row.Text, max(1, width-2-indent)) {
			if i > 0 {
				lead = strings.Repeat(" ", indent)
			}
			lines = append(lines, " "+lead+line)
		}
	}
	return append(lines, "")
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
