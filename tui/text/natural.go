// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"cmp"
	"strings"
)

// Natural compares names as people count: app2 comes before app10. It is 0 for equal names only.
func Natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if digit(x[0]) && digit(y[0]) {
			var first, second string
			first, x = digits(x)
			second, y = digits(y)
			if c := cmp.Or(cmp.Compare(len(first), len(second)), strings.Compare(first, second)); c != 0 {
				return c
			}
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// digits cuts a number off, without zeros in front of it.
func digits(s string) (number, rest string) {
	end := 0
	for end < len(s) && digit(s[end]) {
		end++
	}
	return strings.TrimLeft(s[:end], "0"), s[end:]
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
