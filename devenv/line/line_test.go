// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package line_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/line"
)

func TestATextIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	require.Equal(t, "short", line.Cut("short", 5))
	require.Equal(t, "shor…", line.Cut("short", 4))
	for limit := range 12 {
		cut := line.Cut("aöß€😀b", limit)
		require.True(t, utf8.ValidString(cut), "%q", cut)
		require.True(t, strings.HasPrefix("aöß€😀b", strings.TrimSuffix(cut, "…")), "%q", cut)
	}
}

func TestPartsOfLines(t *testing.T) {
	t.Parallel()
	require.Equal(t, "one", line.First("one\ntwo\nthree"))
	require.Equal(t, "0 pods", line.Count(0, "pod"))
	require.Equal(t, "1 pod", line.Count(1, "pod"))
	require.Equal(t, "2 pods", line.Count(2, "pod"))
	require.Equal(t, "0123456", line.Commit("0123456789abcdef"))
	require.Equal(t, "012", line.Commit("012"))
}
