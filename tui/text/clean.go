// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tabWidth is the distance of tab stops; a tab becomes spaces because its width depends on where it is drawn.
const tabWidth = 4

// maxCombining bounds the marks on one character; more of them paint over neighbouring lines.
const maxCombining = 3

// Clean returns s without anything that acts on a terminal. Line feeds stay, "\r\n" counts as one, and
// of a line that rewrites itself with carriage returns (progress bars) the last state stays.
// Invalid UTF-8 becomes U+FFFD. Clean(Clean(s)) == Clean(s).
func Clean(s string) string {
	if isPlain(s) {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = cleanLine(line)
	}
	return strings.Join(lines, "\n")
}

// Line returns s cleaned and as one line: white space at the ends goes, a run of line feeds in between becomes one
// space.
func Line(s string) string {
	s = Clean(s)
	if !strings.Contains(s, "\n") {
		return strings.TrimSpace(s)
	}
	var parts []string
	for part := range strings.SplitSeq(s, "\n") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}

// FirstLine returns the first line of s that is not blank, cleaned.
func FirstLine(s string) string {
	for part := range strings.SplitSeq(Clean(s), "\n") {
		if part = strings.TrimSpace(part); part != "" {
			return part
		}
	}
	return ""
}

// isPlain is the fast way out: printable ASCII and line feeds are most of all text.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '\n' && (c < 0x20 || c > 0x7e) {
			return false
		}
	}
	return true
}

func cleanLine(line string) string {
	var c cleaner
	c.line(line)
	return c.out.String()
}

// isActing reports characters that do something instead of showing something: controls, format
// characters (among them the bidirectional ones that reorder what is read, and joiners whose width
// differs between terminals), variation selectors, tags, skin tones, line and paragraph separators,
// and private use ones.
func isActing(r rune) bool {
	switch {
	case r == utf8.RuneError:
		return false
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs):
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef, r >= 0x1f3fb && r <= 0x1f3ff:
		return true
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x034f:
		return true // fillers: letters that show nothing
	case r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7ff:
		return true // joining jamo: zero columns in some terminals, one in others
	case r >= 0x1f1e6 && r <= 0x1f1ff:
		return true // regional indicators: one column alone, two as a pair, or four
	}
	return false
}
