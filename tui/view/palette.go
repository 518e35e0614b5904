// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// PaletteEntry is one action, and why it does nothing now; "" when it works.
type PaletteEntry struct {
	keymap.Binding
	Title, Reason string
}

// Palette lists actions over everything else.
type Palette struct {
	Theme theme.Theme
	// Line draws what is typed.
	Line func(width int, note string) string
	// Entries match what was typed, out of All.
	Entries []PaletteEntry
	All     int
	// Command does the same as the selected entry; empty when none does.
	Command  string
	Selected int
}

// narrowPalette is the width below which keys have no column.
const narrowPalette = 50

// Draw returns the palette, width columns wide and height lines high.
func (v Palette) Draw(width, height int) string {
	if height < lowDialog || width < minColumns {
		return v.bare(width, height)
	}
	th, inner := v.Theme, width-2
	lines := []string{
		v.Line(inner, fmt.Sprintf("%d of %d", len(v.Entries), v.All)),
		th.Border.Render(strings.Repeat(th.Horizontal, inner)),
	}
	var list []string
	first, last := 0, 0
	for i, entry := range v.Entries {
		part := v.entry(entry, inner)
		if i == v.Selected {
			first, last = len(list), len(list)+len(part)-1
			part[0] = mark(th, part[0], inner, true)
		}
		list = append(list, part...)
	}
	if len(list) == 0 {
		list = []string{"", " " + th.Dim.Render("No action matches; esc closes")}
	}
	var below []string
	if v.Command != "" {
		below = []string{split(th, "  "+th.Key.Render(v.Command), th.Dim.Render("the same as a command "), inner)}
	}
	room := max(1, height-2-len(lines)-len(below))
	from, to := window(len(list), room, first, last)
	hint := th.Dim.Render("enter runs " + th.Dot + " esc closes")
	frame := box{theme: th, title: "Actions", right: hint, focused: true, total: len(list), top: from, shown: to - from}
	lines = append(lines, list[from:to]...)
	for len(lines) < height-2-len(below) {
		lines = append(lines, "")
	}
	return frame.draw(append(lines, below...), width, height)
}

// bare is the palette on a small screen: what is typed, and the actions around the selected one, with the reason why
// that one does nothing now.
func (v Palette) bare(width, height int) string {
	th := v.Theme
	lines := []string{v.Line(width, "")}
	var list []string
	first, last := 0, 0
	for i, entry := range v.Entries {
		style := th.Text
		if entry.Reason != "" {
			style = th.Dim
		}
		line := split(th, " "+style.Render(entry.Title), th.Key.Render(entry.Name()), width)
		if i == v.Selected {
			first = len(list)
			list = append(list, mark(th, line, width, true))
			if entry.Reason != "" {
				for _, part := range text.Wrap("not now: "+entry.Reason, max(1, width-2)) {
					list = append(list, "  "+th.Dim.Render(part))
				}
			}
			last = min(len(list)-1, first+height-2)
			continue
		}
		list = append(list, line)
	}
	if len(list) == 0 {
		list = []string{" " + th.Dim.Render("No action matches")}
	}
	from, to := window(len(list), height-1, first, last)
	lines = append(lines, list[from:to]...)
	for i := range height {
		if i == len(lines) {
			lines = append(lines, "")
		}
		lines[i] = text.Pad(lines[i], width, th.Ellipsis)
	}
	return strings.Join(lines[:height], "\n")
}

// entry is an action with its key, and the whole reason when it does nothing now.
func (v Palette) entry(entry PaletteEntry, width int) []string {
	th := v.Theme
	style, asks := th.Text, ""
	if entry.Reason != "" {
		style = th.Dim
	}
	if entry.Asks {
		asks = "asks first"
	}
	right := th.Key.Render(text.Pad(strings.Join(entry.Keys, " "), 10, "")) + th.Dim.Render(text.Pad(asks, 11, ""))
	if width < narrowPalette {
		right = th.Key.Render(entry.Name())
	}
	lines := []string{split(th, "  "+style.Render(entry.Title), right, width)}
	if entry.Reason != "" {
		for _, line := range text.Wrap("not now: "+entry.Reason, width-6) {
			lines = append(lines, "    "+th.Dim.Render(line))
		}
	}
	return lines
}
