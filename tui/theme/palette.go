// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

// token is what a colour is for.
type token int

const (
	words token = iota
	dim
	faint
	border
	focus
	ok
	running
	waiting
	failed
	rollback
	info
	selection
	tokens // how many there are
)

// tokenNames are those in theme files.
var tokenNames = [tokens]string{"text", "dim", "faint", "border", "focus", "ok", "running", "waiting", "failed",
	"rollback", "info", "selection"}

// The least contrast of words, and of frames and lines, to what is behind them: WCAG 2.2, criteria 1.4.3 and 1.4.11.
const (
	wordContrast   = 4.5
	borderContrast = 3.0
)

// palette is the colours of one theme.
type palette struct {
	// backgrounds are those of terminals in which the theme is readable; the first is a usual one.
	backgrounds []Color
	// painted: every cell gets the first background.
	painted bool
	colors  [tokens]Color
}

// needs is the least contrast of a token to the backgrounds and, except for borders, to the selection. It is 0 for the
// selection, which is a background.
func (t token) needs() float64 {
	switch t {
	case selection:
		return 0
	case border:
		return borderContrast
	}
	return wordContrast
}

// behind returns what a token stands on. Frames are not drawn on selections.
func (p palette) behind(t token) []Color {
	if t == border {
		return p.backgrounds
	}
	return append(p.backgrounds[:len(p.backgrounds):len(p.backgrounds)], p.colors[selection])
}

// worst returns the least contrast of a colour to what a token stands on, and the background where it has that.
func (p palette) worst(t token, c Color) (ratio float64, background Color) {
	for i, b := range p.behind(t) {
		if r := c.Contrast(b); i == 0 || r < ratio {
			ratio, background = r, b
		}
	}
	return ratio, background
}

// The names of the themes that do not depend on the background of the terminal.
const (
	darkName            = "dark"
	lightName           = "light"
	highContrastName    = "high-contrast"
	colorBlindDarkName  = "colour-blind-dark"
	colorBlindLightName = "colour-blind-light"
)

// builtIn are the themes of ours, in the order of their documentation.
func builtIn() map[string]palette {
	dark, light := colors("#1e1e1e", "#002b36"), colors("#ffffff", "#fdf6e3")
	return map[string]palette{
		darkName: {backgrounds: dark, colors: tokenColors("#e8eaed", "#b9c1cd", "#a0a9b6", "#6f7a8a", "#c9adff",
			"#7ee2a0", "#74bbff", "#ffc857", "#ff8f8a", "#f59de9", "#7fd7e8", "#2b3a4d")},
		lightName: {backgrounds: light, colors: tokenColors("#1b1f24", "#434b55", "#58616c", "#7d8794", "#6a3cc2",
			"#17693a", "#0a58b0", "#855000", "#b3202c", "#97297f", "#0b6070", "#dce6f4")},
		highContrastName: {backgrounds: colors("#000000"), painted: true, colors: tokenColors("#ffffff", "#f0f0f0",
			"#e0e0e0", "#c8c8c8", "#ffff66", "#6dff9c", "#6fc3ff", "#ffe14d", "#ff9d9d", "#ffc8fa", "#7ff3ff",
			"#003a75")},
		colorBlindDarkName: {backgrounds: dark, colors: tokenColors("#e8eaed", "#b9c1cd", "#a0a9b6", "#6f7a8a",
			"#c4b5ff", "#5cb3ff", "#ffffff", "#f5e663", "#ff7f2a", "#c9b6d9", "#9fd8e8", "#2b3a4d")},
		colorBlindLightName: {backgrounds: light, colors: tokenColors("#1b1f24", "#434b55", "#58616c", "#7d8794",
			"#5b3fb8", "#0b63c5", "#000000", "#7a6000", "#7a1f00", "#a8327f", "#0b6070", "#dce6f4")},
	}
}

func colors(hex ...string) []Color {
	out := make([]Color, len(hex))
	for i, s := range hex {
		out[i], _ = ParseColor(s) // the tests parse all
	}
	return out
}

// tokenColors takes one colour for each token, in their order.
func tokenColors(hex ...string) [tokens]Color { return [tokens]Color(colors(hex...)) }
