// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/text"
)

func TestAPartOfALineHasItsColumnsAndStyles(t *testing.T) {
	t.Parallel()
	const bold, reset = "\x1b[1m", "\x1b[m"
	for name, c := range map[string]struct {
		line     string
		from, to int
		want     string
	}{
		"plain":                           {"abcdef", 1, 4, "bcd"},
		"nothing":                         {"abc", 2, 2, ""},
		"beyond the end":                  {"abc", 2, 6, "c   "},
		"far beyond the end":              {"abc", 5, 7, "  "},
		"inside a style":                  {bold + "abcdef" + reset, 1, 4, bold + "bcd" + reset},
		"after a style":                   {bold + "ab" + reset + "cdef", 3, 5, "de"},
		"styles add up":                   {bold + "a\x1b[4mbcd" + reset, 2, 3, bold + "\x1b[4mc" + reset},
		"a style that ends inside":        {"a" + bold + "bc" + reset + "def", 0, 5, "a" + bold + "bc" + reset + "de"},
		"a style that begins at the end":  {"ab" + bold + "cd" + reset, 0, 2, "ab"},
		"half of a wide character":        {"日本語", 1, 5, " 本 "},
		"the end of a wide one only":      {"日本", 1, 2, " "},
		"the start of a wide one only":    {"日本", 0, 1, " "},
		"joined code points are one":      {"a👍🏽b", 1, 4, "👍🏽b"},
		"a mark belongs to its character": {"e\u0301f", 0, 1, "e\u0301"},
	} {
		require.Equal(t, c.want, text.Part(c.line, c.from, c.to), name)
	}
}
