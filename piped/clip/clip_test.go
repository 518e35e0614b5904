// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clip_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/clip"
)

func TestCharactersAreCounted(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]string{
		"": "", "abcd": "abcd", "abcd…": "abcde", "äöüß": "äöüß", "äöüß…": "äöüß€",
		"😀😀😀😀…": "😀😀😀😀😀😀",
	} {
		require.Equal(t, want, clip.Characters(text, 4))
	}
}

func TestBytesEndWithACharacter(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("aä€😀", 3)
	for most := range len(text) + 3 {
		got := clip.Bytes(text, most)
		require.True(t, strings.HasPrefix(text, got))
		require.True(t, utf8.ValidString(got), "%d bytes", most)
		require.LessOrEqual(t, len(got), most)
		require.Greater(t, len(got), min(most, len(text))-utf8.UTFMax, "no more is left out than a character")
	}
	require.Len(t, clip.Bytes(strings.Repeat("\x80", 20), 10), 10, "what is not UTF-8 is cut anywhere")
}
