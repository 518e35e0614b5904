// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Drift shows the fields in which a resource differs from Git, each with three values, and then as a diff.
type Drift struct {
	Theme    theme.Theme
	Resource *deckv1.Resource
}

// The three values of a field, in the order in which they are shown.
var valueNames = [3]string{"in Git", "live", "last applied"}

const (
	// leastColumn and mostColumn bound a column of values; a value that does not fit has all fields stacked.
	leastColumn, mostColumn = 13, 28
	// tableWidth is the width from which values stand in columns.
	tableWidth = 66
)

// Lines are all lines, for the given width; none where no fields are known.
func (v Drift) Lines(width int) []string {
	fields := v.Resource.GetFields()
	if len(fields) == 0 {
		return nil
	}
	lines := v.table(width)
	if lines == nil {
		lines = v.stacked(width)
	}
	if n := v.Resource.GetMoreFields(); n > 0 {
		lines = append(lines, " "+v.Theme.Dim.Render("and "+Count(int(n), "more field")))
	}
	return append(lines, v.diff(width)...)
}

// table has a row for each field; nil where some value does not fit.
func (v Drift) table(width int) []string {
	column := v.column(width)
	if column == 0 {
		return nil
	}
	th, path := v.Theme, width-3*(column+2)-2
	head := " " + text.Pad("field", path, "")
	for _, name := range valueNames {
		head += "  " + text.Pad(name, column, th.Ellipsis)
	}
	lines := []string{th.Faint.Render(head)}
	for _, f := range v.Resource.GetFields() {
		name := f.GetPath()
		if text.Width(name) > path {
			name = text.CutLeft(name, path, th.Ellipsis)
		}
		row := " " + text.Pad(name, path, th.Ellipsis)
		for i, value := range values(f) {
			row += "  " + v.style(f, i, value).Render(text.Pad(shown(value), column, th.Ellipsis))
		}
		lines = append(lines, row)
		lines = append(lines, v.verdict(f, width)...)
	}
	return lines
}

// column is the width of a column of values; 0 where they do not fit next to each other.
func (v Drift) column(width int) int {
	if width < tableWidth {
		return 0
	}
	widest := leastColumn
	for _, f := range v.Resource.GetFields() {
		for _, value := range values(f) {
			widest = max(widest, text.Width(shown(value)))
		}
	}
	if widest > min(mostColumn, (width-26)/3) {
		return 0
	}
	return widest
}

// stacked has the values of each field below each other, whole.
func (v Drift) stacked(width int) []string {
	th := v.Theme
	var lines []string
	for i, f := range v.Resource.GetFields() {
		if i > 0 {
			lines = append(lines, "")
		}
		for _, part := range text.Wrap(f.GetPath(), max(8, width-2)) {
			lines = append(lines, " "+th.Strong.Render(part))
		}
		label := min(len(valueNames[2]), max(6, width/3))
		for j, value := range values(f) {
			name := th.Faint.Render(text.Pad(valueNames[j], label, th.Ellipsis))
			for _, part := range text.Wrap(shown(value), max(8, width-label-4)) {
				lines = append(lines, "   "+name+" "+v.style(f, j, value).Render(part))
				name = strings.Repeat(" ", label)
			}
		}
		lines = append(lines, v.verdict(f, width)...)
	}
	return lines
}

// style is that of one of the three values: Git's as what a diff adds, the live one as what it removes.
func (v Drift) style(f *deckv1.FieldDrift, which int, value string) theme.Style {
	differs := f.GetChange() != deckv1.FieldDrift_CHANGE_APPLIED
	switch {
	case which == 0 && differs:
		return v.Theme.Good
	case which == 1 && differs:
		return v.Theme.Bad
	case value == "":
		return v.Theme.Faint
	}
	return v.Theme.Dim
}

// verdict says which of the three was changed, and by whom.
func (v Drift) verdict(f *deckv1.FieldDrift, width int) []string {
	var lines []string
	for _, part := range text.Wrap(Verdict(f), max(8, width-4)) {
		lines = append(lines, "   "+v.Theme.Dim.Render(part))
	}
	return lines
}

// Verdict says which of the three values of a field was changed, and by whom.
func Verdict(f *deckv1.FieldDrift) string {
	by := ""
	if f.GetWriter() != "" {
		by = " by " + f.GetWriter()
	}
	said := "Git and live differ"
	switch f.GetChange() {
	case deckv1.FieldDrift_CHANGE_LIVE:
		said = "live was changed" + by + ": Git and last applied agree"
	case deckv1.FieldDrift_CHANGE_GIT:
		said = "Git was changed: live is as it was applied last"
	case deckv1.FieldDrift_CHANGE_BOTH:
		said = "both were changed since the last sync: Git, and live" + by
	case deckv1.FieldDrift_CHANGE_APPLIED:
		said = "live is as in Git already: another value was applied last"
	}
	if f.GetSecret() {
		said += "; values of Secrets are never shown"
	}
	return said
}

// Text is the diff alone, for the clipboard.
func (v Drift) Text() string {
	v.Theme = theme.New(theme.Options{NoColor: true})
	var b strings.Builder
	for _, one := range v.changes() {
		b.WriteString(one.sign + " " + one.line + "\n")
	}
	return b.String()
}

// diff is the way from live to Git in the form of a diff.
func (v Drift) diff(width int) []string {
	th, changes := v.Theme, v.changes()
	if len(changes) == 0 {
		return nil
	}
	lines := []string{"", " " + th.Title.Render("As a diff: live "+th.Arrow+" Git")}
	for _, one := range changes {
		style := th.Dim
		switch one.sign {
		case "+":
			style = th.Good
		case "-":
			style = th.Bad
		}
		for i, part := range text.Chop(one.line, max(8, width-5)) {
			sign := one.sign
			if i > 0 {
				sign = " "
			}
			lines = append(lines, "  "+style.Render(sign+" "+part))
		}
	}
	return lines
}

// change is one line of a diff.
type change struct{ sign, line string }

func (v Drift) changes() []change {
	var all []change
	parent := ""
	for _, f := range v.Resource.GetFields() {
		if f.GetSecret() || f.GetGitValue() == f.GetLiveValue() {
			continue
		}
		in, name := split2(f.GetPath())
		if in != parent && in != "" {
			all = append(all, change{" ", in + ":"})
		}
		parent = in
		indent := ""
		if in != "" {
			indent = "  "
		}
		for _, one := range valueChanges(name, f.GetLiveValue(), f.GetGitValue()) {
			all = append(all, change{one.sign, indent + one.line})
		}
	}
	return all
}

// split2 cuts the last step off a path.
func split2(path string) (parent, name string) {
	at := strings.LastIndexAny(path, ".[")
	if strings.HasSuffix(path, `"]`) {
		at = strings.LastIndex(path, `["`)
	}
	if at < 0 {
		return "", path
	}
	return path[:at], strings.TrimPrefix(path[at:], ".")
}

// valueChanges is the diff of one field. Texts of several lines are compared line by line, without what they have in
// common at both ends but for a line next to the change.
func valueChanges(name, live, git string) []change {
	old, oldIs := lines(live)
	now, nowIs := lines(git)
	if !oldIs || !nowIs {
		var all []change
		for _, one := range []change{{"-", live}, {"+", git}} {
			if one.line != "" {
				all = append(all, change{one.sign, name + ": " + shown(one.line)})
			}
		}
		return all
	}
	head := 0
	for head < min(len(old), len(now)) && old[head] == now[head] {
		head++
	}
	tail := 0
	for tail < min(len(old), len(now))-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	all := []change{{" ", name + ": |"}}
	add := func(sign string, lines []string) {
		for _, line := range lines {
			all = append(all, change{sign, "  " + line})
		}
	}
	add(" ", now[max(0, head-1):head])
	add("-", old[head:len(old)-tail])
	add("+", now[head:len(now)-tail])
	if tail > 0 {
		add(" ", now[len(now)-tail:len(now)-tail+1])
	}
	return all
}

func values(f *deckv1.FieldDrift) [3]string {
	return [3]string{f.GetGitValue(), f.GetLiveValue(), f.GetAppliedValue()}
}

// drifted reports whether any row has fields.
func (v Resources) drifted() bool {
	return slices.ContainsFunc(v.Rows, func(row treeRow) bool { return len(row.GetFields()) > 0 })
}
