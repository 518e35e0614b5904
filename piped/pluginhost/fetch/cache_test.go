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
	f.Add([]byte(`{"url":"https://x/y","sha256":"` + strings.Repeat("0a", 32) + `","etag":"\"1\"","fetched":"2026-01-02T03:04:05Z"}`))
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
	c := cache{dir: t.TempDir()}
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
	require.FileExists(t, c.path(named))
	require.FileExists(t, c.path(inUse))
	require.NoFileExists(t, c.path(unused))
	names, err := filepath.Glob(filepath.Join(c.dir, "urls", "*"))
	require.NoError(t, err)
	require.Len(t, names, keptNames)
}
