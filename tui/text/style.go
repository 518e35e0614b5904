// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"strconv"
	"strings"
)

// Style is how a program wants a part of its output shown. Blinking and hiding are not kept. The zero value is no
// style.
type Style struct {
	Foreground, Background                  Color
	Bold, Faint, Italic, Underline, Crossed bool
	Reverse                                 bool
}

// Color is a colour of a terminal; the zero value is the terminal's own.
type Color uint32

// The kinds of colours, in the highest byte of a Color; below it the number or red, green and blue.
const (
	indexed   Color = 1 << 24
	trueColor Color = 2 << 24
	kindMask  Color = 0xff << 24
)

// Indexed is one of the 256 colours.
func Indexed(n uint8) Color { return indexed | Color(n) }

// RGB is a colour by its parts.
func RGB(r, g, b uint8) Color { return trueColor | Color(r)<<16 | Color(g)<<8 | Color(b) }

// Index returns the number of one of the 256 colours.
func (c Color) Index() (n uint8, ok bool) { return uint8(c), c&kindMask == indexed }

// apply returns s changed by the parameters of a sequence "ESC [ … m".
func (s Style) apply(parameters string) Style {
	fields := strings.FieldsFunc(parameters, func(r rune) bool { return r == ';' })
	if len(fields) == 0 {
		return Style{}
	}
	for len(fields) > 0 {
		// "4:3" and "38:2::1:2:3" are the forms with sub-parameters.
		code, sub, _ := strings.Cut(fields[0], ":")
		n, err := strconv.Atoi(code)
		if err != nil || n < 0 {
			return s
		}
		fields = fields[1:]
		if n == 38 || n == 48 {
			rest := fields
			if sub != "" {
				rest = strings.FieldsFunc(sub, func(r rune) bool { return r == ':' })
			}
			color, used := extended(rest)
			if sub == "" {
				fields = fields[used:]
			}
			if n == 38 {
				s.Foreground = color
			} else {
				s.Background = color
			}
			continue
		}
		s = s.code(n, sub)
	}
	return s
}

// code returns s changed by one parameter.
func (s Style) code(n int, sub string) Style {
	switch {
	case n == 0:
		return Style{}
	case n == 1:
		s.Bold = true
	case n == 2:
		s.Faint = true
	case n == 3:
		s.Italic = true
	case n == 4, n == 21:
		s.Underline = sub != "0"
	case n == 7:
		s.Reverse = true
	case n == 9:
		s.Crossed = true
	case n == 22:
		s.Bold, s.Faint = false, false
	case n == 23:
		s.Italic = false
	case n == 24:
		s.Underline = false
	case n == 27:
		s.Reverse = false
	case n == 29:
		s.Crossed = false
	case n >= 30 && n <= 37:
		s.Foreground = Indexed(uint8(n - 30))
	case n == 39:
		s.Foreground = 0
	case n >= 40 && n <= 47:
		s.Background = Indexed(uint8(n - 40))
	case n == 49:
		s.Background = 0
	case n >= 90 && n <= 97:
		s.Foreground = Indexed(uint8(n - 90 + 8))
	case n >= 100 && n <= 107:
		s.Background = Indexed(uint8(n - 100 + 8))
	}
	return s
}

// extended reads "5;N" or "2;R;G;B"; used is how many fields that took.
func extended(fields []string) (color Color, used int) {
	number := func(i int) uint8 {
		n, _ := strconv.Atoi(fields[i])
		return uint8(max(0, min(n, 255)))
	}
	switch {
	case len(fields) >= 2 && fields[0] == "5":
		return Indexed(number(1)), 2
	case len(fields) >= 4 && fields[0] == "2":
		return RGB(number(1), number(2), number(3)), 4
	}
	return 0, len(fields)
}

// Render returns text in the style, as a sequence that this package has made.
func (s Style) Render(text string) string {
	if s == (Style{}) || text == "" {
		return text
	}
	var codes []string
	for _, attribute := range []struct {
		on   bool
		code string
	}{{s.Bold, "1"}, {s.Faint, "2"}, {s.Italic, "3"}, {s.Underline, "4"}, {s.Reverse, "7"}, {s.Crossed, "9"}} {
		if attribute.on {
			codes = append(codes, attribute.code)
		}
	}
	codes = s.Foreground.append(codes, "38")
	codes = s.Background.append(codes, "48")
	return "\x1b[" + strings.Join(codes, ";") + "m" + text + "\x1b[m"
}

// append adds the parameters of a colour to codes.
func (c Color) append(codes []string, lead string) []string {
	if c == 0 {
		return codes
	}
	if n, ok := c.Index(); ok {
		return append(codes, lead, "5", strconv.Itoa(int(n)))
	}
	return append(codes, fmt.Sprintf("%s;2;%d;%d;%d", lead, uint8(c>>16), uint8(c>>8), uint8(c)))
}
