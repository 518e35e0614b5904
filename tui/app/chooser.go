// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// chooser is a dialog with a choice out of many. The first choice changes nothing; it is preselected and stays when the
// others are filtered.
type chooser struct {
	dialog
	all  []choice
	look *find
}

func newChooser(d dialog) *chooser {
	c := &chooser{dialog: d, all: d.choices, look: newFind(d.host.theme, "/")}
	c.look.changed = c.filter
	return c
}

func (c *chooser) finding() *find { return c.look }

func (c *chooser) restyle(th theme.Theme) { c.look.theme = th }

// filter keeps the choices that match what was typed, the best first, and selects that one.
func (c *chooser) filter() {
	isPick := func(one choice) bool { return one.answer == keymap.Pick }
	c.choices = slices.DeleteFunc(slices.Clone(c.all), isPick)
	picks := slices.DeleteFunc(slices.Clone(c.all), func(one choice) bool { return !isPick(one) })
	c.choices = append(c.choices, ranked(c.look, picks, func(one choice) []string { return []string{one.text} })...)
	c.selected = 0
	if c.look.query != "" {
		c.selected = moved(0, 1, len(c.choices))
	}
}

func (c *chooser) move(action keymap.Action) {
	c.selected = moved(c.selected, steps(action), len(c.choices))
}

func (c *chooser) act(action keymap.Action, key string) tea.Cmd {
	switch action {
	case keymap.Search:
		c.look.begin()
	case keymap.PageUp, keymap.PageDown, keymap.Top, keymap.Bottom:
		c.move(action)
	case keymap.No:
		if key == "esc" && c.look.query != "" {
			c.look.clear()
			return nil
		}
		return c.overlays.pop()
	default:
		return c.dialog.act(action, key)
	}
	return nil
}

func (c *chooser) draw(width, height int) string {
	v := c.dialog.view()
	if c.look.shown() {
		v.Line = c.look.draw
	}
	return v.Draw(dialogSize(width, height))
}
