// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

// overlay stands over the panes and takes all keys.
type overlay interface {
	// where is the scope of its keys.
	where() keymap.Scope
	// act does what a key asks for; key is the name of the key.
	act(action keymap.Action, key string) tea.Cmd
	// draw returns the overlay, at most width columns wide and height lines high.
	draw(width, height int) string
}

// overlays is a stack of them: the last one has the keys.
type overlays struct{ stack []overlay }

// top returns nil when there is none.
func (o *overlays) top() overlay {
	if len(o.stack) == 0 {
		return nil
	}
	return o.stack[len(o.stack)-1]
}

func (o *overlays) push(one overlay) { o.stack = append(o.stack, one) }

// pop closes the top one.
func (o *overlays) pop() tea.Cmd {
	if len(o.stack) > 0 {
		o.stack = o.stack[:len(o.stack)-1]
	}
	return nil
}

// replace closes all and opens one.
func (o *overlays) replace(one overlay) { o.stack = []overlay{one} }

// overlaySize is the room of a list over a screen, at most most columns wide: all of a small one.
func overlaySize(width, height, most int) (int, int) {
	const roomy = 18
	if width < minTabWidth+4 || height < roomy {
		return width, height
	}
	return min(most, width-4), height - 5
}

// draw puts them over the screen.
func (o *overlays) draw(th theme.Theme, screen string, width, height int) string {
	screen = th.Ground(screen)
	for _, one := range o.stack {
		screen = view.Over(screen, th.Ground(one.draw(width, height)), width, height)
	}
	return screen
}
