// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// box is a title with lines: in a frame where it stands over something else, without one where it is a pane.
type box struct {
	theme theme.Theme
	// title stands in the frame at the left, right at the right; short is used where right does not fit.
	title, right, short string
	focused             bool
	// total, top and shown say what is out of sight: in a frame by a thumb at the right edge, else in the title.
	total, top, shown int
	// widths is how the terminal counts the columns of the lines; nil where they have only plain characters.
	widths *ansi.Method
}

// titled returns the title and the lines below it: exactly width columns and height lines. Nothing stands next to the
// lines, so that they can be copied from the screen. Lines that do not fit are cut.
func (b box) titled(lines []string, width, height int) string {
	if width <= 0 || height <= 0 {
		return ""
	}
	out := append(make([]string, 0, height), b.heading(width))
	for i := range height - 1 {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		out = append(out, b.pad(line, width))
	}
	return strings.Join(out, "\n")
}

// heading is the title in a line; a heavy one has the focus.
func (b box) heading(width int) string {
	line, edge, style := b.theme.Horizontal, b.theme.Border, b.theme.Title
	if b.focused {
		line, edge, style = b.theme.Heavy, b.theme.BorderFocused, b.theme.TitleFocused
	}
	if width < 6 {
		return edge.Render(strings.Repeat(line, width))
	}
	title := text.Cut(b.title, width-4, b.theme.Ellipsis)
	left := edge.Render(line) + " " + style.Render(title) + " "
	rest := width - text.Width(title) - 3
	for _, right := range []string{join("  ", b.right, b.hidden()), b.right, b.hidden(), b.short} {
		if fill := rest - text.Width(right) - 3; right != "" && fill > 0 {
			return left + edge.Render(strings.Repeat(line, fill)) + " " + right + " " + edge.Render(line)
		}
	}
	return left + edge.Render(strings.Repeat(line, rest))
}

// hidden counts the lines above and below those in sight.
func (b box) hidden() string {
	if b.total <= b.shown {
		return ""
	}
	var parts []string
	if b.top > 0 {
		parts = append(parts, b.theme.Above+thousands(b.top))
	}
	if below := b.total - b.top - b.shown; below > 0 {
		parts = append(parts, b.theme.Below+thousands(below))
	}
	return b.theme.Dim.Render(strings.Join(parts, " "))
}

// draw returns the lines in a frame: exactly width columns and height lines; lines that do not fit are cut.
func (b box) draw(lines []string, width, height int) string {
	if width < 2 || height < 2 {
		return blank(width, height)
	}
	edge := b.theme.Border
	if b.focused {
		edge = b.theme.BorderFocused
	}
	inner := width - 2
	out := make([]string, 0, height)
	out = append(out, b.top1(edge, inner))
	left := edge.Render(b.theme.Vertical)
	from, to := b.thumb(height - 2)
	for i := range height - 2 {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		right := left
		if i >= from && i < to {
			right = edge.Render(b.theme.Thumb)
		}
		out = append(out, left+b.pad(line, inner)+right)
	}
	bottom := b.theme.BottomLeft + strings.Repeat(b.theme.Horizontal, inner) + b.theme.BottomRight
	return strings.Join(append(out, edge.Render(bottom)), "\n")
}

// pad returns a line in exactly width columns.
func (b box) pad(line string, width int) string {
	if b.widths == nil {
		return text.Pad(line, width, b.theme.Ellipsis)
	}
	columns := text.WidthBy(*b.widths, line)
	if columns > width {
		line = b.widths.Truncate(line, width, "")
		columns = text.WidthBy(*b.widths, line)
	}
	return line + strings.Repeat(" ", max(0, width-columns))
}

// top1 is the upper edge with the titles.
func (b box) top1(edge theme.Style, inner int) string {
	titleStyle := b.theme.Title
	if b.focused {
		titleStyle = b.theme.TitleFocused
	}
	title, right := text.Cut(b.title, inner-4, b.theme.Ellipsis), b.right
	rest := inner - 1
	line := edge.Render(b.theme.TopLeft + b.theme.Horizontal)
	if title != "" {
		line += " " + titleStyle.Render(title) + " "
		rest -= text.Width(title) + 2
	}
	if rest < text.Width(right)+4 {
		right = b.short
	}
	if right != "" && rest >= text.Width(right)+4 {
		fill := rest - text.Width(right) - 3
		return line + edge.Render(strings.Repeat(b.theme.Horizontal, fill)) + " " + right + " " +
			edge.Render(b.theme.Horizontal+b.theme.TopRight)
	}
	return line + edge.Render(strings.Repeat(b.theme.Horizontal, max(0, rest))+b.theme.TopRight)
}

// thumb returns the lines [from, to) of the edge that are thick.
func (b box) thumb(height int) (from, to int) {
	if b.total <= b.shown || b.shown <= 0 || height <= 0 {
		return 0, 0
	}
	size := max(1, height*b.shown/b.total)
	from = b.top * (height - size) / max(1, b.total-b.shown)
	return from, from + size
}

// blank returns spaces.
func blank(width, height int) string {
	if height <= 0 {
		return ""
	}
	line := strings.Repeat(" ", max(0, width))
	return line + strings.Repeat("\n"+line, height-1)
}

// empty is what an empty list says: none, or otherwise where it is "".
func empty(th theme.Theme, none, otherwise string, width int) []string {
	var lines []string
	for _, line := range text.Wrap(cmp.Or(none, otherwise), width-4) {
		lines = append(lines, " "+th.Dim.Render(line))
	}
	return lines
}

// window returns the part [from, to) of total lines that fits and contains the lines [first, last].
func window(total, height, first, last int) (from, to int) {
	if total <= height {
		return 0, total
	}
	from = max(0, min(first-(height-(last-first+1))/2, total-height))
	return from, from + height
}

// mark renders a row as selected. The mark stands in the blank at its start, in a tone: that of the row's state, or of
// the focus where it has none. Parts of the row keep their colours.
func mark(th theme.Theme, row string, width int, focused bool, state ...theme.Tone) string {
	tone := th.Tones.Focus
	if len(state) > 0 {
		tone = state[0]
	}
	if rest, blank := strings.CutPrefix(row, " "); blank {
		row = tone.Sign(th.Mark) + rest
	}
	return th.Select(text.Pad(row, width, th.Ellipsis), focused)
}

// split puts left and right at the two ends of width columns; right yields when there is no room.
func split(th theme.Theme, left, right string, width int) string {
	rw := text.Width(right)
	if rw == 0 || rw+8 > width {
		return text.Pad(left, width, th.Ellipsis)
	}
	return text.Pad(left, width-rw-1, th.Ellipsis) + " " + right
}

// join puts the parts that are not empty in a row.
func join(separator string, parts ...string) string {
	var shown []string
	for _, part := range parts {
		if part != "" {
			shown = append(shown, part)
		}
	}
	return strings.Join(shown, separator)
}
