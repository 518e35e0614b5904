// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// maxTyped bounds what can be typed, in characters.
const maxTyped = 200

// find is the line in which the user types what to look for, and what is looked for since.
type find struct {
	theme theme.Theme
	lead  string
	purpose
	// typing: the line has the keys.
	typing bool
	// query is the text looked for, also after it was typed; empty is none.
	query string
	line  textinput.Model
	// bad is what is wrong with the query; empty when nothing is.
	bad string

	// mark remembers a place and returns what goes back there; changed, kept and cleared hear of the query. Each may
	// be nil.
	mark    func() func()
	changed func()
	kept    func() tea.Cmd
	cleared func()
	restore func()
}

// purpose is what a line is typed for.
type purpose struct {
	// says is the line of status while the user types.
	says string
	// enter and esc are what these keys do with the line, for the footer.
	enter, esc string
	// lone: there are no matches that other keys move in.
	lone bool
}

var (
	filtering = purpose{says: "You are typing: letters filter, they do not act.", enter: "keep filter", esc: "clear"}
	searching = purpose{says: "You are typing: letters search, they do not act.", enter: "keep search", esc: "clear"}
)

// footer returns the bindings of typed text with what their keys do in this line.
func (p purpose) footer(bindings []keymap.Binding) []keymap.Binding {
	var shown []keymap.Binding
	for _, b := range bindings {
		switch b.Action {
		case keymap.Keep:
			b.Short = p.enter
		case keymap.Clear:
			b.Short = p.esc
		case keymap.Up, keymap.Down:
			if p.lone {
				continue
			}
		}
		shown = append(shown, b)
	}
	return shown
}

func newFind(th theme.Theme, lead string) *find {
	line := textinput.New()
	line.Prompt, line.CharLimit = "", maxTyped
	line.SetStyles(textinput.Styles{
		Focused: textinput.StyleState{Text: lipgloss.NewStyle()},
		Blurred: textinput.StyleState{Text: lipgloss.NewStyle()},
	})
	// Paste would run a program to read the clipboard; the terminal sends pastes by itself.
	line.KeyMap.Paste.SetEnabled(false)
	line.KeyMap.NextSuggestion.SetEnabled(false)
	line.KeyMap.PrevSuggestion.SetEnabled(false)
	return &find{theme: th, lead: lead, purpose: filtering, line: line}
}

// begin takes the keys, with an empty line.
func (f *find) begin() {
	f.restore = nil
	if f.mark != nil {
		f.restore = f.mark()
	}
	f.typing = true
	f.line.Reset()
	f.line.Focus() // the command would make the cursor blink
	f.set("")
}

// resume goes on with the line after it was kept.
func (f *find) resume() {
	f.typing = true
	f.line.Focus()
}

// set changes the query.
func (f *find) set(query string) {
	if f.query == query {
		return
	}
	f.query = query
	if f.typing && f.restore != nil {
		f.restore() // the nearest match is that of where the user was
	}
	if f.changed != nil {
		f.changed()
	}
}

// act takes an action of the typing keys, or the key itself where it has none.
func (f *find) act(action keymap.Action, key tea.KeyPressMsg) tea.Cmd {
	switch action {
	case keymap.Keep:
		f.typing = false
		f.line.Blur()
		f.query = f.line.Value()
		if f.kept != nil {
			return f.kept()
		}
	case keymap.Clear:
		f.clear()
	default:
		if key.Text != " " { // which Line would remove
			key.Text = text.Line(key.Text)
		}
		f.line, _ = f.line.Update(key)
		f.set(f.line.Value())
	}
	return nil
}

// paste adds text to the line.
func (f *find) paste(more string) {
	f.line, _ = f.line.Update(tea.PasteMsg{Content: text.Line(more)})
	f.set(f.line.Value())
}

// clear drops the query; when it was being typed, the place from before comes back.
func (f *find) clear() {
	back := f.restore
	if !f.typing {
		back = nil
	}
	f.typing, f.restore = false, nil
	f.line.Blur()
	f.set("")
	if back != nil {
		back()
	}
	if f.cleared != nil {
		f.cleared()
	}
}

// shown reports whether there is a line to draw.
func (f *find) shown() bool { return f.typing || f.query != "" }

// draw returns the line, with a note at its right end, or what is wrong with the query.
func (f *find) draw(width int, note string) string {
	left := " " + f.theme.Key.Render(f.lead)
	if f.typing {
		f.line.SetWidth(max(1, width-text.Width(f.lead)-3))
		f.line.SetCursor(f.line.Position()) // moves what is in sight of a long line
		left += f.line.View()
	} else {
		left += f.query
	}
	left = text.Cut(strings.TrimRight(left, " "), width, f.theme.Ellipsis)
	if f.bad != "" {
		return text.Pad(left+"  "+f.theme.Warn.Render(f.bad), width, f.theme.Ellipsis)
	}
	room := width - text.Width(left) - 2
	if text.Width(note) > room {
		return text.Pad(left, width, "")
	}
	return text.Pad(left, width-text.Width(note)-1, "") + f.theme.Dim.Render(note) + " "
}
