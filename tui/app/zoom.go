// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pipedeck/pipedeck/tui/keymap"
)

// drawZoomed draws the focused pane alone over all that l gives to panes. Its side frames fall off the screen, so that
// the terminal's own selection copies clean text.
func (p *panes) drawZoomed(focus keymap.Scope, l layout) part {
	all := rect{0, l.header.height, l.header.width, l.status.y - l.header.height}
	lines := strings.Split(p.of(focus).draw(all.width+2, all.height, true), "\n")
	for i, line := range lines {
		lines[i] = ansi.Cut(line, 1, all.width+1)
	}
	return part{all, strings.Join(lines, "\n")}
}
