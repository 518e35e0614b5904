// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package clip shortens texts that others wrote, for messages and fields with a bound. It never cuts inside a
// character.
package clip

import "unicode/utf8"

// Characters returns at most so many characters of a text, and "…" after them when there are more.
func Characters(text string, most int) string {
	if len(text) <= most { // bytes, which are at least as many
		return text
	}
	count := 0
	for at := range text {
		if count == most {
			return text[:at] + "…"
		}
		count++
	}
	return text
}

// Bytes returns the longest beginning of a text that has at most so many bytes and ends with a character.
func Bytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for back := 0; back < utf8.UTFMax && most-back > 0; back++ {
		if utf8.RuneStart(text[most-back]) {
			return text[:most-back]
		}
	}
	return text[:most] // not UTF-8
}
