// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"sync"
)

// Color is a colour of sRGB. It is a color.Color without transparency.
type Color struct{ R, G, B uint8 }

// ParseColor reads "#rrggbb".
func ParseColor(s string) (Color, error) {
	if len(s) != 7 || s[0] != '#' {
		return Color{}, fmt.Errorf("%q is not a colour such as #7ee2a0", s)
	}
	n, err := strconv.ParseUint(s[1:], 16, 32)
	if err != nil {
		return Color{}, fmt.Errorf("%q is not a colour such as #7ee2a0", s)
	}
	return Color{uint8(n >> 16), uint8(n >> 8), uint8(n)}, nil
}

func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// RGBA implements color.Color.
func (c Color) RGBA() (r, g, b, a uint32) {
	return uint32(c.R) * 0x101, uint32(c.G) * 0x101, uint32(c.B) * 0x101, 0xffff
}

// Contrast is the ratio of the luminances of two colours as WCAG 2.2 defines it, from 1 to 21. The order does not
// matter.
func (c Color) Contrast(other Color) float64 {
	bright, dark := c.luminance(), other.luminance()
	if bright < dark {
		bright, dark = dark, bright
	}
	return (bright + 0.05) / (dark + 0.05)
}

// Light reports whether black is easier to read on a background than white.
func Light(background color.Color) bool {
	r, g, b, _ := background.RGBA()
	c := Color{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}
	return c.Contrast(Color{}) > c.Contrast(Color{255, 255, 255})
}

func (c Color) luminance() float64 {
	l := c.linear()
	return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
}

// linear is the amount of red, green and blue light, each from 0 to 1.
func (c Color) linear() [3]float64 {
	light := lights()
	return [3]float64{light[c.R], light[c.G], light[c.B]}
}

// lights is the amount of light of each value of a colour, from 0 to 1.
var lights = sync.OnceValue(func() *[256]float64 {
	var all [256]float64
	for v := range all {
		x := float64(v) / 255
		if x <= 0.04045 {
			all[v] = x / 12.92
		} else {
			all[v] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return &all
})

// lab is a place in CIE L*a*b* under D65, where a distance is about what the eye sees.
type lab [3]float64

func (c Color) lab() lab { return labOf(c.linear()) }

func labOf(light [3]float64) lab {
	f := func(r, g, b, white float64) float64 {
		t := (r*light[0] + g*light[1] + b*light[2]) / white
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f(0.4124, 0.3576, 0.1805, 0.9505)
	y := f(0.2126, 0.7152, 0.0722, 1)
	z := f(0.0193, 0.1192, 0.9505, 1.0890)
	return lab{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func (l lab) distance(other lab) float64 {
	sum := 0.0
	for i := range l {
		sum += (l[i] - other[i]) * (l[i] - other[i])
	}
	return math.Sqrt(sum)
}
