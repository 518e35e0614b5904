// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Run is the start of a part of a line with another style; it goes on to the next run.
type Run struct {
	// Start is the place in the clean line, in bytes.
	Start int
	Style Style
}

// LogLine returns one line of a log without anything that acts on a terminal, and the colours that it came with.
// Unlike Clean it keeps characters of several code points whole: flags, joined emoji, skin tones, Hangul. Their width
// depends on the terminal: see ansi.Method.
func LogLine(raw string) (clean string, runs []Run) {
	if isPlain(raw) {
		return raw, nil
	}
	c := cleaner{clusters: true}
	c.line(raw)
	return c.out.String(), c.runs
}

// cleaner takes out of one line what acts on a terminal.
type cleaner struct {
	// clusters: characters of several code points stay whole.
	clusters bool

	out strings.Builder
	// column counts characters, marks the marks on the present one.
	column, marks int
	style         Style
	runs          []Run
	// rewritten: a carriage return came; what follows replaces the line.
	rewritten bool
}

func (c *cleaner) line(line string) {
	c.out.Grow(len(line))
	for len(line) > 0 {
		if line[0] == escape {
			n := sequenceLength(line)
			c.sequence(line[:n])
			line = line[n:]
			continue
		}
		if line[0] == '\r' {
			c.rewritten = true
			line = line[1:]
			continue
		}
		if c.rewritten {
			// A reader sees of "10%\r20%\r30%\r" the last state.
			c.out.Reset()
			c.column, c.marks, c.rewritten, c.runs = 0, 0, false, c.runs[:0]
			c.mark()
		}
		if n := c.cluster(line); n > 0 {
			c.out.WriteString(line[:n])
			c.column, c.marks = c.column+1, 0
			line = line[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(line)
		line = line[size:]
		c.rune(r)
	}
}

// sequence takes an escape sequence: a style is remembered, the rest is dropped.
func (c *cleaner) sequence(s string) {
	if len(s) > 2 && s[1] == '[' && s[len(s)-1] == 'm' {
		c.style = c.style.apply(s[2 : len(s)-1])
		if !c.rewritten {
			c.mark()
		}
	}
}

// mark begins a run with the present style.
func (c *cleaner) mark() {
	at := c.out.Len()
	if n := len(c.runs); n > 0 && c.runs[n-1].Start == at {
		c.runs = c.runs[:n-1]
	}
	last := Style{}
	if n := len(c.runs); n > 0 {
		last = c.runs[n-1].Style
	}
	if c.style != last {
		c.runs = append(c.runs, Run{at, c.style})
	}
}

func (c *cleaner) rune(r rune) {
	switch {
	case r == '\t':
		n := tabWidth - c.column%tabWidth
		c.out.WriteString(strings.Repeat(" ", n))
		c.column, c.marks = c.column+n, 0
		return
	case isActing(r):
		return
	case r < 0x80:
		c.marks = 0
		c.column++
	case unicode.In(r, unicode.Mn, unicode.Me):
		// A mark needs a character to sit on; without one terminals disagree on its width.
		if c.marks++; c.marks > maxCombining || c.column == 0 {
			return
		}
	case unicode.Is(unicode.Zs, r):
		r, c.marks = ' ', 0
		c.column++
	default:
		c.marks = 0
		c.column++
	}
	c.out.WriteRune(r)
}

// maxCluster bounds the code points of one character; a family of four with skin tones has eleven.
const maxCluster = 16

// cluster is the length of the character of several code points at the start of line that stays whole; 0 without one.
func (c *cleaner) cluster(line string) int {
	if !c.clusters || len(line) < 2 || line[0] < 0x80 && line[1] < 0x80 {
		return 0
	}
	cluster, _ := ansi.FirstGraphemeCluster(line, ansi.GraphemeWidth)
	first, size := utf8.DecodeRuneInString(cluster)
	if size == len(cluster) || utf8.RuneCountInString(cluster) > maxCluster {
		return 0
	}
	belongs := isEmojiPart
	switch {
	case isRegional(first):
		belongs = isRegional
	case first >= 0x1100 && first <= 0x11ff, first >= 0xac00 && first <= 0xd7a3:
		belongs = isJamo
	case !isPictograph(first) && !strings.ContainsRune("0123456789#*", first):
		return 0
	}
	for _, r := range cluster[size:] {
		if !belongs(r) {
			return 0
		}
	}
	return len(cluster)
}

func isRegional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

func isJamo(r rune) bool { return r >= 0x1160 && r <= 0x11ff }

// isPictograph reports characters that emoji are made of. The ranges include some other symbols, which does no harm: no
// joiner follows those.
func isPictograph(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff && !isRegional(r) || r >= 0x2190 && r <= 0x2bff ||
		r == 0xa9 || r == 0xae || r == 0x203c || r == 0x2049 || r == 0x2122 || r == 0x2139 || r == 0x3030 ||
		r == 0x303d || r == 0x3297 || r == 0x3299
}

// isEmojiPart reports what may follow in an emoji: joiner, emoji style, skin tone, keycap, tag, or another emoji.
func isEmojiPart(r rune) bool {
	return r == 0x200d || r == 0xfe0f || r == 0x20e3 || r >= 0xe0020 && r <= 0xe007f || isPictograph(r)
}
