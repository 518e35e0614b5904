// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Status is the line above the footer, and as many more as what it says needs.
type Status struct {
	Theme theme.Theme
	// Banner takes the whole line, below a toast: something is wrong with the screen itself.
	Banner string
	// Toast is the outcome of the last action, Bad when it failed; Remark when it is only a remark.
	Toast       string
	Bad, Remark bool
	// Typing is said while text is typed.
	Typing string
	// Simulated: no container runs.
	Simulated bool
	// Repository that is watched, and the file in it worth editing.
	Repository, Edit string
	// Unread: commits of the repository are not seen, since it is gone or broken.
	Unread bool
	// Live: saving a file is enough.
	Live bool
	// Playback is the line of a recorded session; empty for an environment.
	Playback string
	// Caption are the lines of a story, below all others; none for no story.
	Caption []string
}

// Draw returns up to most lines of width columns: all that is said where it has room, above all the next step at its
// end.
func (v Status) Draw(width, most int) []string {
	th := v.Theme
	if len(v.Caption) > 0 {
		story := v.story(most)
		if v.Caption = nil; v.quiet() || len(story) >= most {
			return story
		}
		v.Playback = "" // it is a line of the story
		return append(v.Draw(width, most-len(story)), story...)
	}
	var lines, below []string
	if v.Banner != "" && v.Playback != "" && most > 1 { // a banner stays, and would hide where the session is
		most, below = most-1, []string{v.Playback}
	}
	if v.Banner != "" {
		for _, line := range rowsOf(v.Banner, width-1, most, th.Ellipsis) {
			lines = append(lines, th.Banner.Render(text.Pad(" "+line, width, th.Ellipsis)))
		}
	}
	said := v.said(width, max(1, most-len(lines)))
	if lines = append(said, lines...); len(lines) > 0 {
		return append(lines[:min(len(lines), max(1, most))], below...)
	}
	if v.Playback != "" {
		return []string{v.Playback}
	}
	return []string{v.calm(width)}
}

// story is the caption, and below it the line of a recorded session, in up to most lines.
func (v Status) story(most int) []string {
	if v.Playback == "" || most < 2 {
		return v.Caption[:min(len(v.Caption), max(1, most))]
	}
	return append(slices.Clone(v.Caption[:min(len(v.Caption), most-1)]), v.Playback)
}

// quiet reports whether nothing is said that the viewer of a story has to know.
func (v Status) quiet() bool { return v.Banner == "" && v.Toast == "" && v.Typing == "" }

// said is the toast, or what is said while text is typed, in at most most lines.
func (v Status) said(width, most int) []string {
	th, tone, sign, words := v.Theme, v.Theme.Tones.Good, v.Theme.Done, v.Toast
	switch {
	case v.Toast != "" && v.Bad:
		tone, sign = th.Tones.Bad, th.Failed
	case v.Toast != "" && v.Remark:
		sign = ""
	case v.Toast != "":
	case v.Typing != "" && v.Banner == "":
		sign, words = "", v.Typing
	default:
		return nil
	}
	var lines []string
	if sign == "" {
		for _, row := range rowsOf(words, width-1, most, th.Ellipsis) {
			lines = append(lines, th.Warn.Render(text.Pad(" "+row, width, th.Ellipsis)))
		}
		return lines
	}
	const indent = 3 // a blank, the sign, a blank
	for i, row := range rowsOf(words, width-indent, most, th.Ellipsis) {
		line := "  " + tone.Render(" "+row)
		if i == 0 {
			line = " " + signed(tone, sign, row)
		}
		lines = append(lines, text.Pad(line, width, th.Ellipsis))
	}
	return lines
}

// rowsOf breaks words into at most most rows; the end is cut where they have no room.
func rowsOf(words string, width, most int, ellipsis string) []string {
	rows := text.Wrap(words, max(1, width))
	if most = max(1, most); len(rows) > most {
		rows[most-1] = text.Cut(rows[most-1], max(1, width-text.Width(ellipsis)), "") + ellipsis
		rows = rows[:most]
	}
	return rows
}

// calm is the line when nothing is to be said.
func (v Status) calm(width int) string {
	th := v.Theme
	right := ""
	if v.Simulated {
		right = th.Warn.Render("simulated: no container runs") + " "
	}
	room := width - text.Width(right) - 2
	left := ""
	if v.Repository != "" {
		verb, path := "watching ", v.Repository
		tail := ""
		if v.Unread {
			verb, v.Edit = "cannot read ", ""
		}
		if v.Edit != "" {
			verb, path, tail = "edit ", strings.TrimSuffix(path, "/")+"/"+v.Edit, " and commit"
		}
		if v.Edit != "" && v.Live {
			tail = " and save"
		}
		left = " " + th.Dim.Render(verb) + text.CutLeft(path, max(8, room-text.Width(verb+tail)-1), th.Ellipsis) +
			th.Dim.Render(tail)
	}
	return split(th, left, right, width)
}

// Footer is the last line: the keys that do something.
type Footer struct {
	Theme    theme.Theme
	Bindings []keymap.Binding
}

// Draw returns one line of width columns; what does not fit is left out, the least useful first.
func (v Footer) Draw(width int) string {
	th := v.Theme
	line, used := "", 0
	for _, b := range v.Bindings {
		size := text.Width(b.Name()) + 1 + text.Width(b.Short) + 3
		if used+size > width {
			continue
		}
		line += " " + th.Key.Render(b.Name()) + " " + th.Dim.Render(b.Short) + "  "
		used += size
	}
	return text.Pad(line, width, "")
}
