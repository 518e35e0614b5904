// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/tui/text"
)

// Table is a table. An empty cell is shown as "-"; control characters are removed.
type Table struct {
	Columns []Column
	Rows    [][]string
	// whole tables are never shortened; extra ones have the columns for -o wide; headless ones have no heads.
	whole, extra, headless bool
}

// Column is one column. Its zero value but for Head is always shown, and whole.
type Column struct {
	Head string
	// Yield says how early the column is shortened where there is no room: the largest first.
	Yield int
	// Drop says how early it is left out when shortening all columns is not enough: the largest first. 0 is never.
	Drop int
	// Least is the width to which it is shortened; 0 for a column that is of no use in part, which never is.
	Least int
	// State cells are words for a state, which have a colour on a terminal.
	State bool
	// ID cells are identifiers whose beginning is enough where it is unique.
	ID bool
	// Wide columns are shown with -o wide only.
	Wide bool
	// Indented cells keep the spaces that they begin with.
	Indented bool
}

// Heads returns columns that are shortened, and left out, from the last to the first.
func Heads(heads ...string) []Column {
	columns := make([]Column, len(heads))
	for i, head := range heads {
		columns[i] = Column{Head: head, Yield: i, Least: shortID, Drop: i}
	}
	return columns
}

// between separates two columns.
const between = "   "

// print writes the table for a screen.
func (t *Table) print(w io.Writer, s screen) error {
	rows := t.clean()
	widths := t.naturalWidths(rows)
	if s.width > 0 && !t.whole {
		t.fit(widths, rows, s.width)
	}
	var b strings.Builder
	if !t.headless {
		heads := make([]string, len(t.Columns))
		for i, column := range t.Columns {
			heads[i] = column.Head
		}
		t.line(&b, heads, widths, s, true)
	}
	for _, row := range rows {
		t.line(&b, row, widths, s, false)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// clean returns the cells as they are shown.
func (t *Table) clean() [][]string {
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = make([]string, len(t.Columns))
		for j, column := range t.Columns {
			if rows[i][j] = text.Line(row[j]); rows[i][j] == "" {
				rows[i][j] = "-"
			}
			if column.Indented {
				rows[i][j] = strings.Repeat(" ", len(row[j])-len(strings.TrimLeft(row[j], " "))) + rows[i][j]
			}
		}
	}
	return rows
}

// hidden is the width of a column that is not shown.
const hidden = -1

func (t *Table) naturalWidths(rows [][]string) []int {
	widths := make([]int, len(t.Columns))
	for i, column := range t.Columns {
		if column.Wide && !t.extra {
			widths[i] = hidden
			continue
		}
		if !t.headless {
			widths[i] = text.Width(column.Head)
		}
		for _, row := range rows {
			widths[i] = max(widths[i], text.Width(row[i]))
		}
	}
	return widths
}

// fit shortens columns until the table is not wider than a screen, and leaves out some for which there is no room.
func (t *Table) fit(widths []int, rows [][]string, room int) {
	natural := slices.Clone(widths)
	order := t.order(func(c Column) int { return c.Yield })
	for _, i := range order {
		if t.Columns[i].Least == 0 && !t.Columns[i].ID {
			continue
		}
		if excess := total(widths) - room; excess > 0 && widths[i] != hidden {
			widths[i] = max(min(widths[i], t.least(i, rows)), widths[i]-excess)
		}
	}
	for _, i := range t.order(func(c Column) int { return c.Drop }) {
		if t.Columns[i].Drop > 0 && total(widths) > room {
			widths[i] = hidden
		}
	}
	// What was left out has made room again.
	for _, i := range slices.Backward(order) {
		if free := room - total(widths); free > 0 && widths[i] != hidden {
			widths[i] = min(natural[i], widths[i]+free)
		}
	}
}

// order returns the places of the columns, the largest first; of equal ones the last.
func (t *Table) order(by func(Column) int) []int {
	order := make([]int, len(t.Columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(by(t.Columns[b])-by(t.Columns[a]), b-a)
	})
	return order
}

// shortID is how much of an identifier is shown at least.
const shortID = 8

// least is the width to which a column is shortened.
func (t *Table) least(column int, rows [][]string) int {
	c := t.Columns[column]
	least := max(c.Least, text.Width(c.Head))
	if !c.ID {
		return least
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row[column]
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for i := 1; i < len(ids); i++ {
		least = max(least, sameBeginning(ids[i-1], ids[i])+1)
	}
	return max(least, shortID)
}

// sameBeginning returns how many bytes two identifiers have in common.
func sameBeginning(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func total(widths []int) int {
	sum := -len(between)
	for _, width := range widths {
		if width != hidden {
			sum += width + len(between)
		}
	}
	return sum
}

func (t *Table) line(b *strings.Builder, cells []string, widths []int, s screen, head bool) {
	last := len(widths) - 1
	for last > 0 && widths[last] == hidden {
		last--
	}
	for i, cell := range cells {
		if widths[i] == hidden {
			continue
		}
		cut := text.Cut(cell, widths[i], s.ellipsis())
		if t.Columns[i].ID && !head {
			cut = text.Cut(cell, widths[i], "")
		}
		shown := cut
		switch {
		case head:
			shown = s.head(cut)
		case t.Columns[i].State:
			shown = s.state(cell, cut)
		}
		b.WriteString(shown)
		if i < last {
			b.WriteString(strings.Repeat(" ", widths[i]-text.Width(cut)) + between)
		}
	}
	b.WriteByte('\n')
}
