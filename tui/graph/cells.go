// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"strings"

	"github.com/pipedeck/pipedeck/tui/graph/layout"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Role is the meaning of a cell; the theme gives it a style.
type Role uint8

// The roles of cells.
const (
	Text Role = iota
	Dim
	Faint
	Border
	OK
	RunningRole
	WaitingRole
	FailedRole
	RollbackRole
)

// Cell is one column of one row.
type Cell struct {
	// Text is a character with its marks; it is empty in the second column of a wide one.
	Text           string
	Role           Role
	Bold, Selected bool
}

// Place is where a stage is drawn, from the corner of the whole drawing.
type Place struct {
	ID string
	layout.Rect
}

// Picture is the part of a drawing that is in view.
type Picture struct {
	// Width and Height are those of the whole drawing.
	Width, Height int
	// Rows are the cells in view, each row as wide as the view.
	Rows [][]Cell
	// Places are the stages and folds of the whole drawing, from top to bottom in lanes, from layer to layer in boxes.
	Places []Place
}

// View is the part of a drawing to be drawn: its corner, width and height. A negative size is 0.
type View = layout.Rect

// Plain returns the rows of the picture as text without styles.
func (p Picture) Plain() string {
	var b strings.Builder
	for _, row := range p.Rows {
		for _, cell := range row {
			b.WriteString(cell.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// canvas holds the cells of a view; whatever is drawn outside is dropped.
type canvas struct {
	view  View
	ascii bool
	rows  [][]Cell
}

func newCanvas(view View, ascii bool) *canvas {
	c := &canvas{view: view, ascii: ascii, rows: make([][]Cell, max(0, view.Height))}
	for y := range c.rows {
		c.rows[y] = make([]Cell, max(0, view.Width))
		for x := range c.rows[y] {
			c.rows[y][x].Text = " "
		}
	}
	return c
}

func (c *canvas) at(x, y int) *Cell {
	if x -= c.view.X; x < 0 || x >= c.view.Width {
		return nil
	}
	if y -= c.view.Y; y < 0 || y >= c.view.Height {
		return nil
	}
	return &c.rows[y][x]
}

// sees reports whether a row is in view.
func (c *canvas) sees(y int) bool { return y >= c.view.Y && y < c.view.Y+c.view.Height }

// glyph draws a character of ours, which takes one column.
func (c *canvas) glyph(x, y int, r rune, role Role, bold bool) {
	if cell := c.at(x, y); cell != nil {
		cell.Text, cell.Role, cell.Bold = c.drawn(r), role, bold
	}
}

func (c *canvas) drawn(r rune) string {
	if c.ascii {
		if plain, known := asciiGlyphs[r]; known {
			return plain
		}
	}
	return string(r)
}

// text draws foreign text in at most width columns; longer text ends with an ellipsis.
func (c *canvas) text(x, y, width int, s string, role Role, bold bool) {
	if !c.sees(y) || width <= 0 {
		return
	}
	s = text.Line(s)
	cut := text.Width(s) > width
	end := x + width
	if cut {
		end--
	}
	for _, r := range s {
		w := text.Width(string(r))
		if w == 0 {
			if before := c.at(x-1, y); before != nil && x > end-width {
				before.Text += string(r)
			}
			continue
		}
		if x+w > end {
			break
		}
		c.rune(x, y, w, r, role, bold)
		x += w
	}
	if cut {
		c.glyph(x, y, '…', role, bold)
	}
}

// rune draws a character of foreign text. One that is cut by the edge of the view becomes blank.
func (c *canvas) rune(x, y, width int, r rune, role Role, bold bool) {
	cell, last := c.at(x, y), c.at(x+width-1, y)
	for i := range width {
		if part := c.at(x+i, y); part != nil {
			*part = Cell{Text: " ", Role: role, Bold: bold, Selected: part.Selected}
			if i > 0 && cell != nil && last != nil {
				part.Text = ""
			}
		}
	}
	if cell != nil && last != nil {
		cell.Text = string(r)
	}
}

func (c *canvas) selectCells(x, y, width int) {
	for i := range width {
		if cell := c.at(x+i, y); cell != nil {
			cell.Selected = true
		}
	}
}
