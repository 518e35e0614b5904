// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"

	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

const (
	// maxPlanned bounds the resources and the outputs that are drawn of a deploy target: the log has more.
	maxPlanned = 200
	// maxPlannedValue bounds a value that is drawn, in columns.
	maxPlannedValue = 100
)

// plannedRow is one row of a table of changes: a sign, which needs no colour, and words. A field of a resource has no
// sign and is indented.
type plannedRow struct {
	sign, words string
	// kind is '+', '~' or '-' by how much a user has to see it; 'w' for words.
	kind  byte
	field bool
}

// plannedAction is how an action is drawn.
type plannedAction struct {
	sign, ascii, word string
	kind              byte
}

var plannedActions = map[string]plannedAction{
	"create":  {"+", "+", "created", '+'},
	"update":  {"~", "~", "changed", '~'},
	"replace": {"±", "-/+", "replaced", '-'},
	"destroy": {"-", "-", "destroyed", '-'},
	"forget":  {"~", "~", "forgotten: it lives on", '~'},
	"move":    {"~", "~", "moved", '~'},
	"import":  {"+", "+", "imported", '+'},
}

// plannedRows is a table of what changes at a deploy target, what is destroyed first.
func plannedRows(th theme.Theme, t state.PlannedTarget) []plannedRow {
	var rows []plannedRow
	for _, r := range t.Resources[:min(len(t.Resources), maxPlanned)] {
		rows = append(rows, plannedResource(th, r)...)
	}
	if more := t.MoreResources + len(t.Resources) - min(len(t.Resources), maxPlanned); more > 0 {
		rows = append(rows, plannedRow{words: "and " + Count(more, "more resource"), kind: 'w'})
	}
	for _, o := range t.Outputs[:min(len(t.Outputs), maxPlanned)] {
		row := plannedHead(th, o.Action, "output "+text.Line(o.Name))
		row.words += "  " + plannedValues(th, o.Field)
		rows = append(rows, row)
	}
	if more := t.MoreOutputs + len(t.Outputs) - min(len(t.Outputs), maxPlanned); more > 0 {
		rows = append(rows, plannedRow{words: "and " + Count(more, "more output"), kind: 'w'})
	}
	return rows
}

func plannedHead(th theme.Theme, action, words string) plannedRow {
	drawn, known := plannedActions[action]
	if !known {
		drawn = plannedAction{"?", "?", text.Line(action), '~'}
	}
	row := plannedRow{sign: drawn.sign, words: words, kind: drawn.kind}
	if th.ASCII {
		row.sign = drawn.ascii
	}
	return row
}

func plannedResource(th theme.Theme, r state.PlannedResource) []plannedRow {
	head := plannedHead(th, r.Action, text.Line(r.Address))
	head.words += "  " + plannedActions[r.Action].word
	if r.From != "" {
		head.words += " from " + text.Line(r.From)
	}
	if r.Reason != "" {
		head.words += ": " + text.Line(r.Reason)
	}
	rows := []plannedRow{head}
	if r.Action == "destroy" {
		return rows // all its fields go
	}
	for _, f := range r.Fields {
		words := text.Line(f.Path) + "  " + plannedValues(th, f)
		if f.Forces {
			words += "  replaces it"
		}
		rows = append(rows, plannedRow{words: words, kind: 'w', field: true})
	}
	if r.MoreFields > 0 {
		rows = append(rows, plannedRow{words: "and " + Count(r.MoreFields, "more field"), kind: 'w', field: true})
	}
	return rows
}

// plannedValues are the value before and the one after.
func plannedValues(th theme.Theme, f state.PlannedField) string {
	before, after := plannedValue(th, f.Before), plannedValue(th, f.After)
	switch {
	case f.Before == "":
		return after
	case f.After == "":
		return before + " " + th.Arrow + " none"
	}
	return before + " " + th.Arrow + " " + after
}

func plannedValue(th theme.Theme, value string) string {
	return text.Cut(text.Line(value), maxPlannedValue, th.Ellipsis)
}

// plannedPreview is the table as lines of a preview.
func plannedPreview(th theme.Theme, t state.PlannedTarget) (out []PreviewLine) {
	for _, row := range plannedRows(th, t) {
		kind, indent := row.kind, signWidth
		if row.field {
			kind, indent = ' ', signWidth+2
		}
		out = append(out, PreviewLine{kind, "    " + text.Pad(row.sign, indent, "") + row.words})
	}
	return out
}

// planned draws what the stage changes, or would change.
func (v Inspector) planned(width int) []string {
	tables := plannedTables(v.Theme, v.Run.GetMetadata())
	if len(tables) == 0 {
		return nil
	}
	lines := v.section("Planned changes")
	for _, table := range tables {
		lines = append(lines, v.wrapped(table.head, width)...)
		for _, row := range table.rows {
			lines = append(lines, v.plannedLines(row, width)...)
		}
	}
	return lines
}

// plannedTable is what changes at a deploy target, below a line about all of it.
type plannedTable struct {
	head string
	rows []plannedRow
}

// plannedTables are what a stage changes, or would change, by its metadata.
func plannedTables(th theme.Theme, metadata map[string]string) (tables []plannedTable) {
	targets := state.PlannedByStage(metadata)
	for _, t := range targets {
		head := t.Summary()
		if len(targets) > 1 {
			head = text.Line(t.Name) + ": " + head
		}
		tables = append(tables, plannedTable{head, plannedRows(th, t)})
	}
	return tables
}

// PlannedTable is a table of what changes at a deploy target, for who draws it elsewhere.
type PlannedTable struct {
	// Head is about all of it.
	Head string
	Rows []PlannedRow
}

// PlannedRow is one row. Kind is create, update or destroy by how much a user has to see it, and empty for words. A
// Field belongs to the resource in the rows before.
type PlannedRow struct {
	Sign, Words, Kind string
	Field             bool
}

// PlannedTables are what a stage changes, or would change, by its metadata; none where its plugin does not say.
func PlannedTables(metadata map[string]string) (tables []PlannedTable) {
	kinds := map[byte]string{'+': "create", '~': "update", '-': "destroy"}
	for _, t := range plannedTables(theme.New(theme.Options{NoColor: true}), metadata) {
		table := PlannedTable{Head: t.head}
		for _, row := range t.rows {
			table.Rows = append(table.Rows, PlannedRow{row.sign, row.words, kinds[row.kind], row.field})
		}
		tables = append(tables, table)
	}
	return tables
}

// signWidth is the width of the signs of a table of changes.
const signWidth = 4

func (v Inspector) plannedLines(row plannedRow, width int) (lines []string) {
	styles := map[byte]theme.Style{'+': v.Theme.Good, '-': v.Theme.Bad, '~': v.Theme.Warn, 'w': v.Theme.Dim}
	style, indent := styles[row.kind], signWidth
	if row.field {
		style, indent = v.Theme.Text, signWidth+2
	}
	for i, part := range text.Wrap(row.words, max(8, width-indent-4)) {
		sign := row.sign
		if i > 0 {
			sign, part = "", "  "+part
		}
		lines = append(lines, " "+style.Render(fmt.Sprintf("%s%s", text.Pad(sign, indent, ""), part)))
	}
	return lines
}
