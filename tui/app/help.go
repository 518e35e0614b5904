// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

// help is the overlay that lists the keys, those of the pane below first.
type help struct {
	theme    theme.Theme
	overlays *overlays
	keys     keymap.Map
	scope    keymap.Scope
	reasons  func() keymap.Reasons
	// refused are the actions that are not listed.
	refused []keymap.Action
	look    *find
	// top is the first line shown; page is how many lines were shown last, and lines how many there are.
	top, page, lines int
}

func newHelp(h *host, o *overlays) *help {
	p := &help{theme: h.theme, overlays: o, refused: h.refused(), look: newFind(h.theme, "/")}
	p.look.purpose = searching
	p.look.changed = func() { p.top = 0 }
	return p
}

func (h *help) where() keymap.Scope { return keymap.HelpOverlay }

func (h *help) finding() *find { return h.look }

func (h *help) act(action keymap.Action, _ string) tea.Cmd {
	switch {
	case action == keymap.Search:
		h.look.begin()
	case action == keymap.Back && h.look.query != "":
		h.look.clear()
	case action == keymap.Back:
		return h.overlays.pop()
	default:
		h.move(action)
	}
	return nil
}

func (h *help) move(action keymap.Action) {
	n := steps(action)
	if action == keymap.PageUp || action == keymap.PageDown {
		n = n / 10 * max(1, h.page-1)
	}
	h.top = max(0, min(h.top+n, h.lines-h.page))
}

// groups are the bindings that match what was typed.
func (h *help) groups() []keymap.Group {
	var groups []keymap.Group
	for _, group := range h.keys.Help(h.scope) {
		found := keymap.Group{Name: group.Name}
		for _, b := range group.Bindings {
			if slices.Contains(h.refused, b.Action) {
				continue
			}
			if h.look.matches(b.Help, b.Short, strings.Join(b.Keys, " "), group.Name) {
				found.Bindings = append(found.Bindings, b)
			}
		}
		if len(found.Bindings) > 0 {
			groups = append(groups, found)
		}
	}
	return groups
}

func (h *help) restyle(th theme.Theme) { h.theme, h.look.theme = th, th }

func (h *help) draw(width, height int) string {
	v := view.Help{Theme: h.theme, Groups: h.groups(), Reasons: h.reasons(), Top: h.top}
	if own := h.keys.Help(h.scope); len(own) > 0 {
		v.First = strings.ToLower(own[0].Name)
	}
	if h.look.shown() {
		v.Line = h.look.draw
	}
	width, height = overlaySize(width, height, 78)
	h.page, h.lines = v.Fit(width, height)
	h.top = max(0, min(h.top, h.lines-h.page))
	v.Top = h.top
	return v.Draw(width, height)
}
