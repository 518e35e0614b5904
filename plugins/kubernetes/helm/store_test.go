// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheStoreForgetsWhatWasNotUsedForLongest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "charts")
	s := newStore(dir, 100)
	_, ok := s.get("a")
	require.False(t, ok)
	s.put("a", bytes.Repeat([]byte("a"), 40))
	s.put("b", bytes.Repeat([]byte("b"), 40))
	past := time.Now().Add(-time.Hour)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	for _, e := range entries {
		require.NoError(t, os.Chtimes(filepath.Join(dir, e.Name()), past, past))
	}
	_, ok = s.get("a")
	require.True(t, ok)
	s.put("c", bytes.Repeat([]byte("c"), 40))
	_, ok = s.get("b")
	require.False(t, ok)
	for _, key := range []string{"a", "c"} {
		data, ok := s.get(key)
		require.True(t, ok, key)
		require.Len(t, data, 40)
	}
	s.put("d", make([]byte, 101))
	_, ok = s.get("d")
	require.False(t, ok, "more than all room there is")
}

func TestDamagedContentIsNotUsed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "charts")
	s := newStore(dir, 0)
	s.put("a", []byte("good"))
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, names, 1)
	require.NoError(t, os.WriteFile(names[0], []byte("evil"), 0o600))
	_, ok := s.get("a")
	require.False(t, ok)
	require.NoFileExists(t, names[0])
}

func TestADirectoryThatOthersMayOpenIsNotUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	s := newStore(dir, 0)
	s.put("a", []byte("good"))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func FuzzChartEntries(f *testing.F) {
	f.Add([]byte("entries:\n  web:\n  - version: 1.0.0\n    urls: [a]\n  z: []\n"))
	f.Add([]byte(`{"entries": {"web": [{"version": "1.0.0"}]}}`))
	f.Fuzz(func(t *testing.T, index []byte) {
		entries, err := chartEntries(index, "web")
		if err != nil {
			require.Empty(t, entries)
		}
	})
}

func TestTheLinesOfOneChartAreCutOutOfALargeIndex(t *testing.T) {
	t.Parallel()
	index := append([]byte("apiVersion: v1\nentries:\n  web:\n  - version: 1.0.0\n    urls:\n    - a.tgz\n"+
		"  other:\n  - description: "), bytes.Repeat([]byte("x"), maxWholeIndex)...)
	entries, err := chartEntries(index, "web")
	require.NoError(t, err)
	require.Equal(t, []indexEntry{{Version: "1.0.0", URLs: []string{"a.tgz"}}}, entries)
	_, err = chartEntries(index, "gone")
	require.ErrorContains(t, err, "it has no chart gone")
}
