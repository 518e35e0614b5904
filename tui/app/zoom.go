// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import "github.com/pipedeck/pipedeck/tui/keymap"

// drawZoomed draws the focused pane alone over all that l gives to panes.
func (p *panes) drawZoomed(focus keymap.Scope, l layout) part {
	all := rect{0, l.header.height, l.header.width, l.status.y - l.header.height}
	return part{all, p.of(focus).draw(all.width, all.height, true)}
}
