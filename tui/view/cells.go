// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"unicode/utf8"

	"github.com/pipedeck/pipedeck/tui/graph"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// cellLines renders the rows of a graph in the styles of the theme.
func cellLines(th theme.Theme, rows [][]graph.Cell) []string {
	lines := make([]string, len(rows))
	styles := make(map[face]theme.Style)
	for i, row := range rows {
		lines[i] = cellLine(th, row, styles)
	}
	return lines
}

// face is what decides the style of a cell.
type face struct {
	role                 graph.Role
	bold, selected, sign bool
}

// cellLine renders cells of the same style together. styles has the styles of faces that were drawn before.
func cellLine(th theme.Theme, row []graph.Cell, styles map[face]theme.Style) string {
	var line, run strings.Builder
	var now face
	flush := func() {
		if run.Len() > 0 {
			style, known := styles[now]
			if !known {
				style = cellStyle(th, now)
				styles[now] = style
			}
			line.WriteString(style.Render(run.String()))
			run.Reset()
		}
	}
	for _, cell := range row {
		next := face{cell.Role, cell.Bold, cell.Selected, isSign(cell.Text)}
		if cell.Text == " " { // a blank looks the same in every colour
			next = now
			next.selected = cell.Selected
		}
		if next != now {
			flush()
			now = next
		}
		run.WriteString(cell.Text)
	}
	flush()
	return line.String()
}

// isSign reports whether a cell is a sign, a bar, a frame or an edge of ours. In ASCII they look like words.
func isSign(cell string) bool {
	r, _ := utf8.DecodeRuneInString(cell)
	return r >= 0x2190 && r < 0x2800 // arrows to dingbats
}

// cellStyle is the style of a face. The selection adds a background and changes no colour but that of frames, which are
// not made for it.
func cellStyle(th theme.Theme, f face) theme.Style {
	if f.selected && f.role == graph.Border {
		f.role = graph.Dim
	}
	word, tone := roleStyle(th, f.role)
	style := word
	if f.sign {
		style = tone.SignStyle()
	}
	if f.bold {
		style = style.Bold()
	}
	if f.selected {
		style = th.Lit(style)
	}
	return style
}

// roleStyle returns the style of words of a role, and the tone of its signs.
func roleStyle(th theme.Theme, role graph.Role) (theme.Style, theme.Tone) {
	switch role {
	case graph.Dim:
		return th.Dim, th.Tones.Dim
	case graph.Faint:
		return th.Faint, th.Tones.Faint
	case graph.Border:
		return th.Border, th.Tones.Border
	case graph.OK:
		return th.Good, th.Tones.Good
	case graph.RunningRole:
		return th.Running, th.Tones.Running
	case graph.WaitingRole:
		return th.Warn, th.Tones.Warn
	case graph.FailedRole:
		return th.Bad, th.Tones.Bad
	case graph.RollbackRole:
		return th.Rollback, th.Tones.Rollback
	}
	return th.Text, th.Tones.Text
}
