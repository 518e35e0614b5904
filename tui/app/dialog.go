// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/view"
)

// dialog is an overlay that asks something.
type dialog struct {
	host     *host
	overlays *overlays
	scope    keymap.Scope
	title    string
	lines    []string
	choices  []choice
	selected int
}

// choice is an answer. It closes the dialog itself.
type choice struct {
	// answer is the action of its key; keymap.Pick has the key.
	answer    keymap.Action
	key, text string
	do        func() tea.Cmd
}

// choice returns the choice that an answer means.
func (d *dialog) choice(answer keymap.Action, key string) (choice, bool) {
	i := slices.IndexFunc(d.choices,
		func(c choice) bool { return c.answer == answer && (answer != keymap.Pick || c.key == key) })
	if i < 0 {
		return choice{}, false
	}
	return d.choices[i], true
}

func (d *dialog) where() keymap.Scope { return d.scope }

func (d *dialog) act(action keymap.Action, key string) tea.Cmd {
	if c, found := d.choice(action, key); found {
		return c.do()
	}
	switch action {
	case keymap.Stay, keymap.No:
		return d.overlays.pop()
	case keymap.Up:
		d.selected = moved(d.selected, -1, len(d.choices))
	case keymap.Down:
		d.selected = moved(d.selected, 1, len(d.choices))
	case keymap.Open:
		return d.choices[d.selected].do()
	}
	return nil
}

func (d *dialog) draw(width, height int) string {
	v := d.view()
	return v.Draw(dialogSize(width, height))
}

// dialogSize is the room of a dialog on a screen: all of a small one.
func dialogSize(width, height int) (int, int) {
	return max(width-4, min(width, minTabWidth)), max(height-2, min(height, minTabHeight))
}

func (d *dialog) view() view.Dialog {
	v := view.Dialog{Theme: d.host.theme, Title: d.title, Lines: d.lines, Selected: d.selected}
	for _, c := range d.choices {
		key := c.key
		if c.answer != keymap.Pick {
			key = d.host.file.Map.Key(d.scope, c.answer)
		}
		v.Choices = append(v.Choices, view.Choice{Key: key, Text: c.text})
	}
	return v
}
