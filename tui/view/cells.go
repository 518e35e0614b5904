// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/pipedeck/pipedeck/tui/graph"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// cellLines renders the rows of a graph in the styles of the theme.
func cellLines(th theme.Theme, rows [][]graph.Cell) []string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = cellLine(th, row)
	}
	return lines
}

// cellLine renders cells of the same style together.
func cellLine(th theme.Theme, row []graph.Cell) string {
	var line, run strings.Builder
	var look graph.Cell
	flush := func() {
		if run.Len() > 0 {
			line.WriteString(cellStyle(th, look).Render(run.String()))
			run.Reset()
		}
	}
	for _, cell := range row {
		text := cell.Text
		if text == " " { // a blank looks the same in every colour
			cell.Role, cell.Bold = look.Role, look.Bold
		}
		if cell.Text = ""; cell != look {
			flush()
			look = cell
		}
		run.WriteString(text)
	}
	flush()
	return line.String()
}

// cellStyle is the style of a role. The selection adds a background and changes no colour.
func cellStyle(th theme.Theme, cell graph.Cell) lipgloss.Style {
	style := roleStyle(th, cell.Role)
	if cell.Bold {
		style = style.Bold(true)
	}
	if cell.Selected {
		background := th.Selected.GetBackground()
		if _, none := background.(lipgloss.NoColor); !none && background != nil {
			style = style.Background(background)
		}
	}
	return style
}

func roleStyle(th theme.Theme, role graph.Role) lipgloss.Style {
	switch role {
	case graph.Dim, graph.Faint:
		return th.Dim
	case graph.Border:
		return th.Border
	case graph.OK:
		return th.Good
	case graph.RunningRole:
		return th.Running
	case graph.WaitingRole:
		return th.Warn
	case graph.FailedRole:
		return th.Bad
	case graph.RollbackRole:
		return th.Rollback
	}
	return th.Text
}
