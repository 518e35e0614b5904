// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"

	"github.com/pipedeck/pipedeck/tui/theme"
)

// Code is a QR code for cameras, drawn dark on light whatever the theme is.
type Code struct {
	Theme theme.Theme
	// Light: the terminal has a light background. It matters without colours only.
	Light bool
	// Size is the number of modules at a side, Dark reports whether one is dark.
	Size int
	Dark func(x, y int) bool
	// Narrow: there is no room for the whole border.
	Narrow bool
}

// The width of the light border around a code, in modules. Source: ISO/IEC 18004. Cameras read it with half of that,
// too.
const (
	quiet       = 4
	narrowQuiet = 2
)

func (c Code) quiet() int {
	if c.Narrow {
		return narrowQuiet
	}
	return quiet
}

// Room returns how many columns and lines the code takes.
func (c Code) Room() (width, height int) {
	side := c.Size + 2*c.quiet()
	if c.Theme.ASCII {
		return 2 * side, side // a character is twice as high as wide
	}
	return side, (side + 1) / 2
}

// Draw returns the lines of the code: two modules in a character, or one in two where there are no half blocks.
func (c Code) Draw() []string {
	_, height := c.Room()
	quiet := c.quiet()
	lines := make([]string, height)
	for line := range lines {
		var b strings.Builder
		for x := -quiet; x < c.Size+quiet; x++ {
			if c.Theme.ASCII {
				b.WriteString(c.whole(c.dark(x, line-quiet)))
			} else {
				b.WriteString(c.halves(c.dark(x, 2*line-quiet), c.dark(x, 2*line+1-quiet)))
			}
		}
		lines[line] = c.Theme.Scan().Render(b.String())
	}
	return lines
}

// dark is Dark with the border. Below it, where the lines have room for one module more, the border goes on.
func (c Code) dark(x, y int) bool {
	return x >= 0 && y >= 0 && x < c.Size && y < c.Size && c.Dark(x, y)
}

// inked reports whether a module is drawn in the colour of the text: a dark one, save on a dark terminal without
// colours, where the text is the light part.
func (c Code) inked(dark bool) bool { return dark != (c.Theme.Plain && !c.Light) }

func (c Code) halves(upper, lower bool) string {
	switch up, low := c.inked(upper), c.inked(lower); {
	case up && low:
		return "█"
	case up:
		return "▀"
	case low:
		return "▄"
	}
	return " "
}

// whole is one module in ASCII, where only the background makes an even area.
func (c Code) whole(dark bool) string {
	if c.inked(dark) {
		return "##"
	}
	return "  "
}
