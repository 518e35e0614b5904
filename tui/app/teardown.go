// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/view"
)

// tearDown is the overlay that asks for the name of the environment before it is deleted.
type tearDown struct {
	leaving *leaving
	look    *find
	// wrong: the name that was typed is another one.
	wrong bool
}

func newTearDown(l *leaving) *tearDown {
	d := &tearDown{leaving: l, look: newFind(l.host.theme, "name: ")}
	d.look.purpose = purpose{says: "You are typing the name of the environment; esc changes nothing.",
		enter: "tear down", esc: "stay", lone: true}
	d.look.changed = func() { d.wrong = false }
	d.look.kept = d.decide
	d.look.cleared = func() { l.overlays.pop() }
	d.look.begin()
	return d
}

func (d *tearDown) where() keymap.Scope { return keymap.Typing }

func (d *tearDown) finding() *find { return d.look }

// move has nothing to do: there is only the name.
func (d *tearDown) move(keymap.Action) {}

// act has nothing to do: all keys are typed.
func (d *tearDown) act(keymap.Action, string) tea.Cmd { return nil }

// decide tears down when the name is right; else the name can be corrected.
func (d *tearDown) decide() tea.Cmd {
	if d.look.query == d.leaving.host.cfg.Name && d.look.query != "" {
		return d.leaving.leave(TearDown)
	}
	d.wrong = true
	d.look.resume()
	return nil
}

func (d *tearDown) draw(width, height int) string {
	host := d.leaving.host
	v := view.Dialog{Theme: host.theme, Title: "Tear down " + host.cfg.Name + "?", Lines: []string{
		"Its clusters, its history and its sample repository are deleted. Your own repository is left as it is.",
		"As a command: pipedeck down" + host.cfg.Flags,
		"",
		"To delete it, type its name, then press enter: " + host.cfg.Name,
	}, Line: d.look.draw}
	if d.wrong {
		v.Last = host.theme.Bad.Render("this is not the name of the environment")
	}
	return v.Draw(dialogSize(width, height))
}
