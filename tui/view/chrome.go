// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Status is the line above the footer.
type Status struct {
	Theme theme.Theme
	// Banner takes the whole line: something is wrong with the screen itself.
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
}

// Draw returns one line of width columns.
func (v Status) Draw(width int) string {
	th := v.Theme
	switch {
	case v.Banner != "":
		return th.Banner.Render(text.Pad(" "+v.Banner, width, th.Ellipsis))
	case v.Toast != "" && v.Bad:
		return text.Pad(" "+signed(th.Tones.Bad, th.Failed, v.Toast), width, th.Ellipsis)
	case v.Toast != "" && v.Remark:
		return th.Warn.Render(text.Pad(" "+v.Toast, width, th.Ellipsis))
	case v.Toast == "" && v.Typing != "":
		return th.Warn.Render(text.Pad(" "+v.Typing, width, th.Ellipsis))
	case v.Toast != "":
		return text.Pad(" "+signed(th.Tones.Good, th.Done, v.Toast), width, th.Ellipsis)
	}
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
