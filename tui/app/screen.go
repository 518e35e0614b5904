// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"

	"github.com/pipedeck/pipedeck/tui/keymap"
)

// screen is the size of the terminal, and which pane has the focus.
type screen struct {
	width, height int
	// main: the start-up steps have made room for the main screen.
	main  bool
	focus keymap.Scope
	// zoomed: the pane with the focus is shown alone.
	zoomed bool
}

// The smallest terminals that hold panes side by side, one column, one pane with tabs, and the state in a few words.
const (
	wideWidth, wideHeight     = 100, 30
	minWidth, minHeight       = 72, 20
	minTabWidth, minTabHeight = 40, 12
	leastWidth, leastHeight   = 20, 6
)

// wide reports whether there is room for lists next to the deployment, small whether for one pane only, tabbed whether
// for its tabs, tooSmall whether for nothing.
func (s *screen) wide() bool     { return s.width >= wideWidth && s.height >= wideHeight }
func (s *screen) small() bool    { return s.width < minWidth || s.height < minHeight }
func (s *screen) tabbed() bool   { return s.width >= minTabWidth && s.height >= minTabHeight }
func (s *screen) tooSmall() bool { return s.width < leastWidth || s.height < leastHeight }

// enterMain replaces the start-up steps with the main screen.
func (s *screen) enterMain() {
	s.main = true
	if s.focus == keymap.Startup {
		s.focus = keymap.Deployment
	}
}

// turn goes round the panes.
func (s *screen) turn(n int) {
	panes := []keymap.Scope{keymap.Applications, keymap.Deployment, keymap.Log, keymap.Plugins}
	at := max(0, slices.Index(panes, s.focus))
	s.focus = panes[(at+n+len(panes))%len(panes)]
}

// toggle goes to a pane, or back from it to the deployment.
func (s *screen) toggle(pane keymap.Scope) {
	if s.focus == pane {
		pane = keymap.Deployment
	}
	s.focus = pane
}
