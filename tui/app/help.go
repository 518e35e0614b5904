// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

// help is the overlay that lists the keys.
type help struct {
	theme    theme.Theme
	overlays *overlays
	keys     keymap.Map
	reasons  func() keymap.Reasons
}

func (h *help) where() keymap.Scope { return keymap.HelpOverlay }

// act closes the help: it has no other keys.
func (h *help) act(keymap.Action, string) tea.Cmd { return h.overlays.pop() }

func (h *help) draw(width, height int) string {
	return view.Help{Theme: h.theme, Groups: h.keys.Help(), Reasons: h.reasons()}.Draw(width, height)
}
