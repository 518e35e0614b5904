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
	// Text cells are sentences, which are never cut. Where there is no room for them next to the others, they stand
	// below their row, each in lines that begin with the head of its column.
	Text bool
	// Ending cells, of ASCII characters, are cut at their beginning: times without their date.
	Ending bool
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
	var below []int
	if s.width > 0 && !t.whole {
		below = t.fitText(widths, rows, s.width)
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
		for _, i := range below {
			t.below(&b, i, row[i], s)
		}
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
				rows[i][j] = empty
			}
			if column.Indented {
				rows[i][j] = strings.Repeat(" ", len(row[j])-len(strings.TrimLeft(row[j], " "))) + rows[i][j]
			}
		}
	}
	return rows
}

// empty is shown for an empty cell.
const empty = "-"

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

// fitText makes room for the columns with sentences: the last one is wrapped where enough of the screen is left for it,
// next to shortened columns. The others are hidden, and returned in their order.
func (t *Table) fitText(widths []int, rows [][]string, room int) (below []int) {
	shortest := slices.Clone(widths)
	for i, column := range t.Columns {
		if shortest[i] != hidden && (column.Least > 0 || column.ID) {
			shortest[i] = min(shortest[i], t.least(i, rows))
		}
	}
	last := lastShown(widths)
	for i, column := range slices.Backward(t.Columns) {
		if !column.Text || widths[i] == hidden || total(shortest) <= room {
			continue
		}
		natural := widths[i]
		widths[i], shortest[i] = hidden, hidden
		if i == last && total(shortest)+len(between)+wrapped <= room {
			shortest[i] = min(natural, wrapped)
			widths[i] = min(natural, max(wrapped, room-total(widths)-len(between)))
			continue
		}
		below = slices.Insert(below, 0, i)
		last = lastShown(widths)
	}
	return below
}

// wrapped is the width of a column of sentences that are wrapped; with less room they stand below their row.
const wrapped = 40

func lastShown(widths []int) int {
	last := len(widths) - 1
	for last > 0 && widths[last] == hidden {
		last--
	}
	return last
}

// indent begins the lines below a row, and those that go on are indented once more.
const indent = "  "

// below writes a sentence below its row; nothing for an empty cell.
func (t *Table) below(b *strings.Builder, column int, cell string, s screen) {
	if cell == empty {
		return
	}
	for _, line := range wrap(strings.ToLower(t.Columns[column].Head)+": "+cell, s.width-2*len(indent), indent) {
		b.WriteString(indent + line + "\n")
	}
}

// wrap breaks a cell into lines. A next step begins a line; lines that go on begin with a text.
func wrap(cell string, width int, further string) (lines []string) {
	what, step, found := strings.Cut(cell, "; "+nextStep)
	sentences := []string{what}
	if found {
		sentences = append(sentences, nextStep+step)
	}
	for _, sentence := range sentences {
		for i, line := range text.Wrap(sentence, max(narrowest, width)) {
			if i > 0 {
				line = further + line
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// nextStep begins the next step in a sentence.
const nextStep = "next step: "

// narrowest is the width in which sentences are wrapped at least, however narrow the screen is.
const narrowest = 20

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

// ending is the end of a cell of ASCII characters, without the part of a word at its beginning.
func ending(cell string, width int) string {
	from := max(0, len(cell)-width)
	if space := strings.IndexByte(cell[from:], ' '); from > 0 && space >= 0 && cell[from-1] != ' ' {
		from += space + 1
	}
	return cell[from:]
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
	last := lastShown(widths)
	for i, cell := range cells {
		if widths[i] == hidden {
			continue
		}
		if t.Columns[i].Text && i == last && text.Width(cell) > widths[i] {
			lines := wrap(cell, widths[i], "")
			b.WriteString(strings.Join(lines, "\n"+strings.Repeat(" ", total(widths)-widths[i])) + "\n")
			return
		}
		cut := text.Cut(cell, widths[i], s.ellipsis())
		switch {
		case t.Columns[i].ID && !head:
			cut = text.Cut(cell, widths[i], "")
		case t.Columns[i].Ending && !head:
			cut = ending(cell, widths[i])
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
