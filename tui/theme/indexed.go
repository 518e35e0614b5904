// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

import (
	"math"
	"sync"
)

// firstIndex is the first of the 256 colours that every terminal shows alike; users choose the 16 before it.
const firstIndex = 16

// indexed returns the color of an index from firstIndex on: a cube of 6x6x6, then 24 greys. Source: xterm, 256colres.h.
func indexed(i int) Color {
	if i >= 232 {
		grey := uint8(8 + 10*(i-232))
		return Color{grey, grey, grey}
	}
	level := func(n int) uint8 {
		if n == 0 {
			return 0
		}
		return uint8(55 + 40*n)
	}
	i -= firstIndex
	return Color{level(i / 36), level(i / 6 % 6), level(i % 6)}
}

// places are the indexed colours in Lab. They are computed once: that takes longer than all comparisons.
var places = sync.OnceValue(func() (all [256]lab) {
	for i := firstIndex; i < len(all); i++ {
		all[i] = indexed(i).lab()
	}
	return all
})

// nearest returns the index of the nearest colour that is readable; the nearest of all where none is.
func nearest(wanted Color, readable func(Color) bool) int {
	at, best := 0, math.Inf(1)
	place, all := wanted.lab(), places()
	for i := firstIndex; i < 256; i++ {
		c := indexed(i)
		distance := all[i].distance(place)
		if distance < best && !readable(c) {
			distance += 1000 // farther than any two colours are
		}
		if distance < best {
			at, best = i, distance
		}
	}
	return at
}

// reduce returns the palette in colours of indexed, and their indexes; background is that of the first background.
func (p palette) reduce() (out palette, indexes [tokens]int, background int) {
	whatever := func(Color) bool { return true }
	out = p
	background = nearest(p.backgrounds[0], whatever)
	if p.painted {
		out.backgrounds = []Color{indexed(background)}
	}
	indexes[selection] = nearest(p.colors[selection], whatever)
	out.colors[selection] = indexed(indexes[selection])
	for t := range selection {
		indexes[t] = nearest(p.colors[t], func(c Color) bool {
			ratio, _ := out.worst(t, c)
			return ratio >= t.needs()
		})
		out.colors[t] = indexed(indexes[t])
	}
	return out, indexes, background
}
