// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

import "github.com/charmbracelet/x/ansi"

// Scan is the style of a code for cameras, which need black on white: the same in every theme, by colours of xterm that
// no user changes. It is the terminal's own look where there are no colours.
func (th Theme) Scan() Style {
	if th.Plain {
		return Style{}
	}
	const black, white = ansi.IndexedColor(16), ansi.IndexedColor(231)
	return pen{fg: black, bg: white}.style()
}
