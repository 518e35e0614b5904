// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Call shows one call between piped and a plugin.
type Call struct {
	Theme theme.Theme
	Title string
	// Lines are the facts and the messages.
	Lines []string
	// Hint names the keys.
	Hint string
	// Top is the first line shown.
	Top int
}

// wrapped are all lines, whole: what is long takes several.
func (v Call) wrapped(width int) (all []string) {
	for _, line := range v.Lines {
		indent := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " ")))
		for i, part := range text.Wrap(strings.TrimLeft(line, " "), max(8, width-4-len(indent))) {
			if i > 0 {
				part = v.Theme.Dim.Render(part)
			}
			all = append(all, " "+indent+part)
		}
		if line == "" {
			all = append(all, "")
		}
	}
	return all
}

// Fit returns how many lines are shown of how many, when Draw gets that room.
func (v Call) Fit(width, height int) (page, all int) {
	all = len(v.wrapped(width))
	return max(1, min(height-2, all)), all
}

// Draw returns the call, width columns wide and at most height lines high.
func (v Call) Draw(width, height int) string {
	lines := v.wrapped(width)
	all := len(lines)
	page := max(1, min(height-2, all))
	top := max(0, min(v.Top, all-page))
	lines = lines[top:min(all, top+page)]
	hint := v.Hint
	if rest := all - page - top; rest > 0 {
		hint = fmt.Sprintf("%d more below %s %s", rest, v.Theme.Dot, hint)
	}
	frame := box{theme: v.Theme, title: v.Title, right: v.Theme.Dim.Render(hint), focused: true, total: all, top: top,
		shown: page}
	return frame.draw(lines, width, len(lines)+2)
}
