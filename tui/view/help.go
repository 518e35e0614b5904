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

// Help lists what the keys do.
type Help struct {
	Theme theme.Theme
	// First names the place whose keys come first.
	First   string
	Groups  []keymap.Group
	Reasons keymap.Reasons
	// Line draws what the user looks for; nil when nothing is.
	Line func(width int, note string) string
	// Top is the first line shown.
	Top int
}

// keyWidth is the width of the keys in the help.
const keyWidth = 16

// lines are all lines, whole: what is long takes several.
func (v Help) lines(width int) []string {
	th := v.Theme
	var lines []string
	for i, group := range v.Groups {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, " "+th.Title.Render(group.Name))
		for _, b := range group.Bindings {
			lines = append(lines, v.binding(b, width)...)
		}
	}
	if len(lines) == 0 {
		return []string{" " + th.Dim.Render("No key matches; esc clears")}
	}
	return lines
}

func (v Help) binding(b keymap.Binding, width int) []string {
	th := v.Theme
	says, style, key := b.Help, th.Text, th.Key
	if b.Asks {
		says += " " + th.Dot + " asks first"
	}
	reason := v.Reasons[b.Action]
	if reason != "" {
		style, key = th.Dim, th.Dim
	}
	var lines []string
	column := keyWidth
	if width < narrowDialog {
		column = 7
	}
	room := max(6, width-2-column-5)
	keys, help := text.Wrap(strings.Join(b.Keys, " "), column-1), text.Wrap(says, room)
	if reason != "" {
		help = append(help, text.Wrap("not now: "+reason, room)...)
	}
	for i := range max(len(keys), len(help)) {
		left, right := "", ""
		if i < len(keys) {
			left = keys[i]
		}
		if i < len(help) {
			right = help[i]
		}
		lines = append(lines, "   "+key.Render(text.Pad(left, column, ""))+" "+style.Render(right))
	}
	return lines
}

// Fit returns how many lines are shown of how many, when Draw gets that room.
func (v Help) Fit(width, height int) (page, all int) {
	all = len(v.lines(width))
	return v.page(height, all), all
}

// page is how many of all lines have room.
func (v Help) page(height, all int) int {
	if v.Line != nil {
		height--
	}
	return max(1, min(height-2, all))
}

// Draw returns the help, width columns wide and at most height lines high.
func (v Help) Draw(width, height int) string {
	th := v.Theme
	lines := v.lines(width)
	all := len(lines)
	page := v.page(height, all)
	top := max(0, min(v.Top, all-page))
	lines = lines[top : top+page]
	if v.Line != nil {
		lines = append([]string{v.Line(width-2, "")}, lines...)
	}
	hint := "/ finds " + th.Dot + " esc closes"
	if rest := all - page - top; rest > 0 {
		hint = fmt.Sprintf("%d more below %s %s", rest, th.Dot, hint)
	}
	title := "Keys"
	if v.First != "" {
		title += " " + th.Dot + " " + v.First + " first"
	}
	frame := box{theme: th, title: title, right: th.Dim.Render(hint), focused: true, total: all, top: top, shown: page}
	return frame.draw(lines, width, len(lines)+2)
}
