// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import "slices"

// arms are the lines that leave a cell to each side: 0 none, 1 light, 2 heavy.
type arms struct{ up, right, down, left uint8 }

// junctions holds the characters by arms: up counts 27, right 9, down 3, left 1.
var junctions = []rune("" +
	" ╴╸╷╮┑╻┒┓╶─╾╭┬┭┎┰┱╺╼━┍┮┯┏┲┳" +
	"╵╯┙│┤┥╽┧┪╰┴┵├┼┽┟╁╅┕┶┷┝┾┿┢╆╈" +
	"╹┚┛╿┦┩┃┨┫┖┸┹┞╀╃┠╂╉┗┺┻┡╄╇┣╊╋")

func junction(a arms, dashed bool) rune {
	if dashed {
		switch a {
		case arms{right: 1, left: 1}:
			return '╌'
		case arms{up: 1, down: 1}:
			return '╎'
		}
	}
	return junctions[int(a.up)*27+int(a.right)*9+int(a.down)*3+int(a.left)]
}

// asciiGlyphs replaces the characters of the drawing where only ASCII is shown.
var asciiGlyphs = func() map[rune]string {
	m := map[rune]string{
		'✓': "v", '●': "*", '◆': "?", '✗': "x", '»': ">", '⊘': "/", '○': "o", '↺': "<", '•': "+", '▸': "]",
		'…': "~", '▌': ">", '╌': ".", '╎': ":", '╺': "=", '╸': "=", '│': "|",
		'─': "-", '┃': "#", '━': "=",
		'▁': ".", '▂': ":", '▃': "-", '▄': "=", '▅': "+", '▆': "*", '▇': "#", '█': "@",
	}
	for _, r := range junctions {
		if _, known := m[r]; !known && r != ' ' {
			m[r] = "+"
		}
	}
	return m
}()

// Lines returns the lines that leave a cell with a character of a drawing to each side: 0 none, 1 light, 2 heavy. It is
// for those who draw the same picture otherwise; dashed lines and characters that are no lines are not ok.
func Lines(r rune) (up, right, down, left int, ok bool) {
	at := slices.Index(junctions, r)
	if at <= 0 {
		return 0, 0, 0, 0, false
	}
	return at / 27, at / 9 % 3, at / 3 % 3, at % 3, true
}
