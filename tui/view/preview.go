// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Branches is the list of what can be previewed.
type Branches struct {
	Theme    theme.Theme
	List     []*deckv1.Branch
	Selected int
	Now      time.Time
	// Waiting is said instead of the list; Trouble above it.
	Waiting, Trouble string
}

// BranchWords are what a filter looks in.
func BranchWords(b *deckv1.Branch) []string {
	return []string{b.GetName(), b.GetSubject(), shortHash(b.GetCommit())}
}

// Draw returns width columns and height lines.
func (v Branches) Draw(width, height int) string {
	th := v.Theme
	frame := box{theme: th, title: "Plan preview: choose a branch", focused: true,
		right: th.Dim.Render("enter: preview")}
	var lines []string
	for _, line := range wrapIf(v.Trouble, width-2) {
		lines = append(lines, " "+th.Bad.Render(line))
	}
	if len(v.List) == 0 {
		if v.Waiting != "" {
			lines = append(append(lines, ""), empty(th, "", v.Waiting, width)...)
		}
		return frame.titled(lines, width, height)
	}
	from, to := window(len(v.List), max(1, height-1-len(lines)), v.Selected, v.Selected)
	frame.total, frame.top, frame.shown = len(v.List), from, to-from
	name := leastName
	for _, b := range v.List {
		name = max(name, min(32, text.Width(b.GetName())))
	}
	for i := from; i < to; i++ {
		b := v.List[i]
		sign, note := " ", ""
		switch {
		case b.GetBase():
			note = "watched: nothing to merge  "
		case b.GetCheckedOut():
			note = "checked out  "
		}
		if b.GetCheckedOut() {
			sign = th.Active
		}
		line := split(th, " "+th.Info.Render(sign)+" "+text.Pad(b.GetName(), min(name, width-4), th.Ellipsis)+" "+
			th.Info.Render(shortHash(b.GetCommit()))+" "+th.Dim.Render(note+b.GetSubject()),
			th.Dim.Render(Age(state.Elapsed(b.GetCommittedAt(), nil, v.Now))+" "), width)
		if i == v.Selected {
			line = mark(th, line, width, true)
		}
		lines = append(lines, line)
	}
	return frame.titled(lines, width, height)
}

// PreviewLine is one line of a preview before it is cut to the width of a screen.
type PreviewLine struct {
	// Kind is the first character of a line of a diff, '*' for an application, '!' for an error, and 'w' for other
	// words.
	Kind byte
	Text string
}

// PreviewLines is a preview as lines; its text must be clean.
func PreviewLines(th theme.Theme, p *deckv1.PlanPreview) []PreviewLine {
	head := fmt.Sprintf("Merging %s (%s) into %s", p.GetHeadBranch(), shortHash(p.GetHeadCommit()), p.GetBaseBranch())
	switch n := len(p.GetApplications()); {
	case n == 0 && len(p.GetErrors()) > 0:
		head += " cannot be previewed"
	case n == 0:
		head += " deploys nothing"
	default:
		head += " concerns " + Count(n, "application")
	}
	out := []PreviewLine{{'w', head}}
	for _, reason := range p.GetErrors() {
		out = append(out, failure(reason)...)
	}
	for _, a := range p.GetApplications() {
		out = append(out, applicationLines(th, a)...)
	}
	return out
}

func applicationLines(th theme.Theme, a *deckv1.ApplicationPlanPreview) []PreviewLine {
	head := a.GetName() + "  " + a.GetPath()
	if a.GetNoChange() {
		head += "  no change"
	}
	out := []PreviewLine{{' ', ""}, {'*', head}}
	if reason := a.GetStrategyReason(); reason != "" {
		reason, warnings, _ := strings.Cut(reason, "\n")
		out = append(out, PreviewLine{'w', "  " + a.GetStrategy() + "  " + reason})
		for warning := range strings.Lines(warnings) {
			out = append(out, PreviewLine{'!', "  " + strings.TrimRight(warning, "\n")})
		}
	}
	for _, target := range a.GetTargets() {
		out = append(out, PreviewLine{'w',
			fmt.Sprintf("  %s(%s)  %s", target.GetPlugin(), target.GetTarget(), target.GetSummary())})
		if planned := state.PlannedAt(target.GetChanges()); planned != nil && !planned.Empty() {
			out = append(out, plannedPreview(th, *planned)...)
			continue
		}
		for line := range strings.Lines(target.GetDetails()) {
			line = strings.TrimRight(line, "\n")
			kind := byte(' ')
			if line != "" && target.GetLanguage() == "diff" {
				kind = line[0]
			}
			out = append(out, PreviewLine{kind, "    " + line})
		}
	}
	return append(out, failure(a.GetError())...)
}

// failure is why something cannot be previewed.
func failure(reason string) (out []PreviewLine) {
	for i, line := range strings.Split(strings.TrimSpace(reason), "\n") {
		switch {
		case line == "":
		case i == 0:
			out = append(out, PreviewLine{' ', ""}, PreviewLine{'!', "  error: " + line})
		default:
			out = append(out, PreviewLine{'!', "    " + line})
		}
	}
	return out
}

// Preview shows what merging a branch would deploy.
type Preview struct {
	Theme theme.Theme
	// Branch is its name.
	Branch string
	// Lines are what is known; none while it is waited for.
	Lines []PreviewLine
	// Top is the first line shown, Waiting what is said before there are lines.
	Top     int
	Waiting string
	// Failed: a part of the preview has failed.
	Failed bool
	// Query is looked for, in small letters; Hit is the line that was gone to, -1 for none.
	Query string
	Hit   int
}

// Rows are the lines in a width: longer ones are broken. first is the line that each row begins or belongs to.
func (v Preview) Rows(width int) (rows []PreviewLine, first []int) {
	for i, line := range v.Lines {
		for _, part := range broken(line, width-1) {
			rows, first = append(rows, PreviewLine{line.Kind, part}), append(first, i)
		}
	}
	return rows, first
}

// broken is a line in parts of at most width columns. Words are broken between words, and their indent is kept.
func broken(line PreviewLine, width int) []string {
	if !strings.ContainsRune("w!*#", rune(line.Kind)) {
		return text.Chop(line.Text, max(8, width))
	}
	words := strings.TrimLeft(line.Text, " ")
	indent := strings.Repeat(" ", min(len(line.Text)-len(words), width/4))
	parts := text.Wrap(words, max(8, width-len(indent)-2))
	for i := range parts {
		if i > 0 {
			parts[i] = "  " + parts[i]
		}
		parts[i] = indent + parts[i]
	}
	return parts
}

// Draw returns width columns and height lines. rows are those of Rows for the width.
func (v Preview) Draw(rows []PreviewLine, first []int, width, height int) string {
	th := v.Theme
	frame := box{theme: th, title: "Plan preview of " + v.Branch, focused: true, right: th.Dim.Render("esc: branches")}
	if v.Failed {
		frame.right = th.Bad.Render(th.Failed+" failed") + "  " + frame.right
		frame.short = th.Bad.Render(th.Failed)
	}
	if len(rows) == 0 {
		return frame.titled(append([]string{""}, empty(th, "", v.Waiting, width)...), width, height)
	}
	page := max(1, height-1)
	top := max(0, min(v.Top, len(rows)-page))
	to := min(len(rows), top+page)
	frame.total, frame.top, frame.shown = len(rows), top, to-top
	lines := make([]string, 0, page)
	for i := top; i < to; i++ {
		line := v.line(rows[i])
		if first[i] == v.Hit {
			line = mark(th, line, width, true)
		}
		lines = append(lines, line)
	}
	return frame.titled(lines, width, height)
}

// line draws a row in the colours of its kind, with what is looked for marked.
func (v Preview) line(row PreviewLine) string {
	th := v.Theme
	style := map[byte]theme.Style{
		'+': th.Good, '-': th.Bad, '~': th.Warn, '@': th.Info, '#': th.Strong, '*': th.Title, '!': th.Bad, 'w': th.Text,
	}
	drawn, ok := style[row.Kind]
	if !ok {
		drawn = th.Text
	}
	if row.Kind == '*' {
		return " " + th.TitleFocused.Render(th.Arrow) + " " + v.marked(row.Text, drawn)
	}
	return " " + v.marked(row.Text, drawn)
}

// marked renders a text with what is looked for in the style of a hit.
func (v Preview) marked(s string, style theme.Style) string {
	small := strings.ToLower(s)
	if v.Query == "" || len(small) != len(s) || !strings.Contains(small, v.Query) {
		return style.Render(s)
	}
	var b strings.Builder
	for {
		at := strings.Index(small, v.Query)
		if at < 0 {
			b.WriteString(style.Render(s))
			return b.String()
		}
		b.WriteString(style.Render(s[:at]))
		b.WriteString(v.Theme.Match.Render(s[at : at+len(v.Query)]))
		s, small = s[at+len(v.Query):], small[at+len(v.Query):]
	}
}

// Failed reports whether some part of a preview has failed.
func Failed(p *deckv1.PlanPreview) bool {
	return len(p.GetErrors()) > 0 || slices.ContainsFunc(p.GetApplications(),
		func(a *deckv1.ApplicationPlanPreview) bool { return a.GetError() != "" })
}
