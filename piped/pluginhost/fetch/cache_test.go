// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func FuzzParseEntry(f *testing.F) {
	f.Add(
		[]byte(
			`{"url":"https://x/y","sha256":"` + strings.Repeat(
				"0a", 32,
			) + `","etag":"\"1\"","fetched":"2026-01-02T03:04:05Z"}`,
		),
	)
	f.Add([]byte(`{"sha256":"../../etc/passwd"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := parseEntry(data)
		if err == nil {
			path := cache{dir: "/c"}.path(e.SHA256)
			require.Equal(t, "/c/content", filepath.Dir(path), "it never leads elsewhere")
		}
	})
}

func TestOldContentsAndURLsAreForgotten(t *testing.T) {
	t.Parallel()
	c := cache{dir: t.TempDir(), limit: DefaultMaxKept}
	require.NoError(t, c.prepare())
	put := func(digest string, age time.Duration) {
		require.NoError(t, os.WriteFile(c.path(digest), nil, 0o500))
		used := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(c.path(digest), used, used))
	}
	named, unused, inUse := strings.Repeat("a", 64), strings.Repeat("b", 64), strings.Repeat("c", 64)
	put(named, 48*time.Hour)
	put(unused, 48*time.Hour)
	put(inUse, time.Hour)
	for i := range keptNames + 3 {
		require.NoError(t, c.remember(fmt.Sprint("https://x/", i), entry{SHA256: named}))
	}
	c.prune(nil)
	require.FileExists(t, c.path(named))
	require.FileExists(t, c.path(inUse))
	require.NoFileExists(t, c.path(unused))
	names, err := filepath.Glob(filepath.Join(c.dir, "urls", "*"))
	require.NoError(t, err)
	require.Len(t, names, keptNames)
}

func TestWhatWasNotUsedForLongGoesWhenThereIsTooMuch(t *testing.T) {
	t.Parallel()
	c := cache{dir: t.TempDir(), limit: 250}
	require.NoError(t, c.prepare())
	ages := map[string]time.Duration{
		"a": 5 * time.Hour, "b": 4 * time.Hour, "c": 3 * time.Hour, "d": 2 * time.Hour, "e": time.Minute,
	}
	for name, age := range ages {
		digest := strings.Repeat(name, 64)
		require.NoError(t, os.WriteFile(c.path(digest), make([]byte, 100), 0o500))
		used := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(c.path(digest), used, used))
		require.NoError(t, c.remember("https://x/"+name, entry{SHA256: digest}))
	}
	left := func() (names string) {
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			if _, err := os.Stat(c.path(strings.Repeat(name, 64))); err == nil {
				names += name
			}
		}
		return names
	}
	c.prune(map[string]bool{strings.Repeat("a", 64): true})
	require.Equal(t, "ae", left(), "what is held stays, though it is the oldest")
	c.limit = 0
	c.prune(nil)
	require.Equal(t, "e", left(), "what was used just now may be about to be copied")
	_, ok := c.lookup("https://x/d")
	require.False(t, ok)
}
