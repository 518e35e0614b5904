// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"

	"github.com/pipedeck/pipedeck/tui/graph"
)

// Cells of a picture, in units of the picture. The letters are put into them whatever font the reader has.
const (
	cellWidth, cellHeight = 8.4, 18.0
	baseline              = 13.2
	margin                = 10.0
)

// Terminal is how the terminal of a screen looks: its size in cells, and its colours as "#rrggbb".
type Terminal struct {
	Columns, Rows int
	Ink, Ground   string
}

// Dark and Light return terminals with these backgrounds.
func Dark(columns, rows int) Terminal { return Terminal{columns, rows, "#e8eaed", "#1e1e1e"} }

// Light is the opposite of Dark.
func Light(columns, rows int) Terminal { return Terminal{columns, rows, "#1b1f24", "#ffffff"} }

// SVG draws a screen: lines with the escape sequences of colours and attributes. The same screen is always the same
// text. Words are text that can be selected, in whatever font for terminals the reader has.
func SVG(screen, title string, terminal Terminal) string {
	p := &picture{width: terminal.Columns, height: terminal.Rows, ink: terminal.Ink, ground: terminal.Ground,
		screen: uv.NewScreenBuffer(terminal.Columns, terminal.Rows)}
	uv.NewStyledString(screen).Draw(p.screen, p.screen.Bounds())
	return p.svg(title)
}

// picture is a screen that is being drawn.
type picture struct {
	screen        uv.ScreenBuffer
	width, height int
	// ink and ground are the colours of the terminal.
	ink, ground string
	out         strings.Builder
}

// cell is what one cell of the screen shows.
type cell struct {
	// content is one character, with what combines with it; empty in the second column of a wide one.
	content string
	// first is the first rune of content.
	first rune
	width int
	// ink and ground are colours as "#rrggbb".
	ink, ground     string
	bold, underline bool
}

func (p *picture) at(x, y int) cell {
	shown := p.screen.CellAt(x, y)
	if shown == nil {
		return cell{content: " ", first: ' ', width: 1, ink: p.ink, ground: p.ground}
	}
	c := cell{content: shown.Content, width: shown.Width, ink: hex(shown.Style.Fg, p.ink),
		ground: hex(shown.Style.Bg, p.ground), bold: shown.Style.Attrs&uv.AttrBold != 0,
		underline: shown.Style.Underline != uv.UnderlineNone}
	for _, r := range shown.Content {
		c.first = r
		break
	}
	if shown.Style.Attrs&uv.AttrReverse != 0 {
		c.ink, c.ground = c.ground, c.ink
	}
	return c
}

// hex is a colour as "#rrggbb".
func hex(c color.Color, otherwise string) string {
	if c == nil {
		return otherwise
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// svg returns the picture. The same screen is always the same text.
func (p *picture) svg(title string) string {
	wide, high := float64(p.width)*cellWidth+2*margin, float64(p.height)*cellHeight+2*margin
	p.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img"`,
		number(wide), number(high), number(wide), number(high))
	p.add(`  font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" ` +
		`xml:space="preserve">`)
	p.add(`<title>%s</title>`, escape(title))
	p.add(`<rect width="100%%" height="100%%" rx="8" fill="%s"/>`, p.ground)
	p.add(`<g transform="translate(%s %s)">`, number(margin), number(margin))
	for y := range p.height {
		p.backgrounds(y)
	}
	for y := range p.height {
		p.row(y)
	}
	p.add("</g>\n</svg>")
	return p.out.String()
}

func (p *picture) add(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

// backgrounds draws what is behind the characters of a row.
func (p *picture) backgrounds(y int) {
	for x := 0; x < p.width; {
		color, from := p.at(x, y).ground, x
		for x < p.width && p.at(x, y).ground == color {
			x++
		}
		if color != p.ground {
			p.rect(float64(from), float64(y), float64(x-from), 1, color)
		}
	}
}

// row draws the characters of a row: words in one piece, lines and blocks as shapes.
func (p *picture) row(y int) {
	for x := 0; x < p.width; {
		cell := p.at(x, y)
		from := x
		if strings.ContainsRune("─━█", cell.first) {
			for x++; x < p.width && p.at(x, y) == cell; x++ {
			}
			p.long(from, x, y, cell)
			continue
		}
		if p.shape(x, y, cell) {
			x++
			continue
		}
		for x += max(1, cell.width); x < p.width && p.together(from, x, y); x++ {
		}
		p.words(from, x, y)
	}
}

// long draws the same line or block from one column up to another, without gaps.
func (p *picture) long(from, to, y int, cell cell) {
	color := cell.ink
	switch cell.first {
	case '█':
		p.rect(float64(from), float64(y), float64(to-from), 1, color)
	case '━':
		p.path(from, y, 2, color, fmt.Sprintf("M0 0.5H%d", to-from))
	default:
		p.path(from, y, 1, color, fmt.Sprintf("M0 0.5H%d", to-from))
	}
}

// together reports whether the character at x continues the words that begin at from.
func (p *picture) together(from, x, y int) bool {
	first, before, next := p.at(from, y), p.at(x-1, y), p.at(x, y)
	if before.first == ' ' && next.first == ' ' || next.first != ' ' &&
		(next.ink != first.ink || next.bold != first.bold || next.underline != first.underline) {
		return false
	}
	return plainLetter(first) && plainLetter(next)
}

// plainLetter reports whether every font for terminals has the character in the width of a cell.
func plainLetter(c cell) bool { return len(c.content) == 1 && c.first >= ' ' && c.first < 0x7f }

// words draws the characters of a row from one column up to another.
func (p *picture) words(from, to, y int) {
	cell, columns := p.at(from, y), 0
	var said strings.Builder
	for x := from; x < to; x++ {
		c := p.at(x, y)
		said.WriteString(c.content)
		if c.first != ' ' {
			columns = x - from + max(1, c.width)
		}
	}
	trimmed := strings.TrimRight(said.String(), " ")
	if trimmed == "" {
		return
	}
	style := ""
	if cell.bold {
		style += ` font-weight="bold"`
	}
	if cell.underline {
		style += ` text-decoration="underline"`
	}
	p.add(`<text x="%s" y="%s" textLength="%s" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`,
		number(float64(from)*cellWidth), number(float64(y)*cellHeight+baseline),
		number(float64(min(columns, to-from))*cellWidth), cell.ink, style, escape(trimmed))
}

// shape draws a blank, a line or a block; false for any other character.
func (p *picture) shape(x, y int, cell cell) bool {
	color := cell.ink
	switch r := cell.first; {
	case r == ' ' || r == 0:
	case r == '▌':
		p.rect(float64(x), float64(y), 0.5, 1, color)
	case r >= '▁' && r <= '█':
		eighths := float64(r-'▁'+1) / 8
		p.rect(float64(x), float64(y)+1-eighths, 1, eighths, color)
	case r == '╌':
		p.path(x, y, 1, color, "M0.1 0.5H0.4M0.6 0.5H0.9")
	case r == '╎':
		p.path(x, y, 1, color, "M0.5 0.1V0.4M0.5 0.6V0.9")
	default:
		return p.lines(x, y, r, color)
	}
	return true
}

// lines draws a character of a frame or an edge.
func (p *picture) lines(x, y int, r rune, color string) bool {
	up, right, down, left, known := graph.Lines(r)
	if !known {
		return false
	}
	switch r {
	case '╭':
		p.path(x, y, 1, color, "M0.5 1Q0.5 0.5 1 0.5")
	case '╮':
		p.path(x, y, 1, color, "M0.5 1Q0.5 0.5 0 0.5")
	case '╰':
		p.path(x, y, 1, color, "M0.5 0Q0.5 0.5 1 0.5")
	case '╯':
		p.path(x, y, 1, color, "M0.5 0Q0.5 0.5 0 0.5")
	default:
		for weight := 1; weight <= 2; weight++ {
			way := ""
			for i, arm := range []int{up, right, down, left} {
				if arm == weight {
					way += "M0.5 0.5" + []string{"V0", "H1", "V1", "H0"}[i]
				}
			}
			if way != "" {
				p.path(x, y, weight, color, way)
			}
		}
	}
	return true
}

// path draws a way through a cell, given in parts of the cell.
func (p *picture) path(x, y, weight int, color, way string) {
	var scaled strings.Builder
	for len(way) > 0 {
		scaled.WriteByte(way[0])
		end := strings.IndexAny(way[1:], "MHVQ")
		if end < 0 {
			end = len(way) - 1
		}
		for i, field := range strings.Fields(way[1 : end+1]) {
			part, _ := strconv.ParseFloat(field, 64)
			if i > 0 {
				scaled.WriteByte(' ')
			}
			if way[0] == 'V' || way[0] != 'H' && i%2 == 1 {
				scaled.WriteString(number((float64(y) + part) * cellHeight))
			} else {
				scaled.WriteString(number((float64(x) + part) * cellWidth))
			}
		}
		way = way[end+1:]
	}
	p.add(`<path d="%s" fill="none" stroke="%s" stroke-width="%s"/>`, scaled.String(), color,
		map[int]string{1: "1.2", 2: "2.6"}[weight])
}

// rect fills a part of a cell, or of several.
func (p *picture) rect(x, y, width, height float64, color string) {
	p.add(`<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`, number(x*cellWidth), number(y*cellHeight),
		number(width*cellWidth), number(height*cellHeight), color)
}

// number rounds to tenths, so that the text is the same on every processor.
func number(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
