// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

// dialog is an overlay that asks something.
type dialog struct {
	theme    theme.Theme
	overlays *overlays
	scope    keymap.Scope
	title    string
	lines    []string
	choices  []choice
	selected int
}

// choice is an answer. It closes the dialog itself.
type choice struct {
	key, text string
	do        func() tea.Cmd
}

func (d *dialog) where() keymap.Scope { return d.scope }

func (d *dialog) act(action keymap.Action, key string) tea.Cmd {
	switch action {
	case keymap.Pick:
		if i := slices.IndexFunc(d.choices, func(c choice) bool { return c.key == key }); i >= 0 {
			return d.choices[i].do()
		}
	case keymap.KeepRunning, keymap.Yes:
		return d.choices[0].do()
	case keymap.TearDown:
		return d.choices[1].do()
	case keymap.Otherwise:
		if len(d.choices) > 2 {
			return d.choices[1].do()
		}
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
	v := view.Dialog{Theme: d.theme, Title: d.title, Lines: d.lines, Selected: d.selected}
	for _, c := range d.choices {
		v.Choices = append(v.Choices, view.Choice{Key: c.key, Text: c.text})
	}
	return v.Draw(width-4, height-2)
}
