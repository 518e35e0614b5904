// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text

const escape = 0x1b

// sequenceLength is the length of the escape sequence at the start of s, at least 1. Of a sequence that does not end on
// the line only its introducer counts, so that a stray byte cannot hide the text after it.
func sequenceLength(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[':
		return controlLength(s)
	case ']', 'P', 'X', '^', '_':
		return stringLength(s)
	}
	if s[1] >= 0x20 && s[1] <= 0x2f { // ESC ( B and the like
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x30 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x2f {
				break
			}
		}
		return 1
	}
	if s[1] >= 0x30 && s[1] <= 0x7e {
		return 2
	}
	return 1
}

// controlLength measures a control sequence: ESC [ parameters, intermediates, one final byte.
func controlLength(s string) int {
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x3f:
			return 2
		}
	}
	return 2
}

// stringLength measures a string sequence (title, clipboard, link): it ends with BEL or ESC \.
func stringLength(s string) int {
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == 0x07:
			return i + 1
		case s[i] == escape && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		}
	}
	return 2
}
