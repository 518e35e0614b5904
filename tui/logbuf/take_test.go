// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Drawing a log reads lines while a search matches others: a chunk that is matched needs no lock, and stays as it was.
func TestAChunkThatIsSearchedStaysAsItWasWhileTheLogGrows(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"line 1[0-9]$", "[0-9] line 1.$"} {
		b := New(Limits{Memory: 2 * chunkBytes, Disk: 8 * chunkBytes})
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		for i := range 100 {
			b.Append(Line{Text: fmt.Sprintf("%d line %d", i, i)})
		}
		pattern, err := Compile(text)
		require.NoError(t, err)
		s := &search{buffer: b, pattern: pattern}
		part, from, more := s.take()
		require.True(t, more)
		require.True(t, b.mu.TryLock(), "no one waits while lines are matched")
		b.mu.Unlock()
		for i := range 100_000 { // its memory is used again, and its place in the file
			b.Append(Line{Text: fmt.Sprintf("%d line 10", i)})
		}
		for i := range part.lines {
			s.line(part, i, from)
		}
		require.Equal(t, []int{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, s.hits.Lines)
	}
}
