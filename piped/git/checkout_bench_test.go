// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkCheckoutOfThousandFiles holds the ways to a directory of a commit against each other; docs/git.md shows
// what follows from the figures.
func BenchmarkCheckoutOfThousandFiles(b *testing.B) {
	u := newUserRepo(b)
	text := strings.Repeat("a line of a manifest\n", 100)
	for i := range 1000 {
		u.write(fmt.Sprintf("d%d/f%d", i%50, i), text+fmt.Sprint(i))
	}
	first := u.commit("first")
	u.write("d1/f1", "changed")
	second := u.commit("second")
	r := open(b, u.dir)
	_, err := r.Update(b.Context())
	require.NoError(b, err)
	base := b.TempDir()
	from := filepath.Join(base, "from")
	_, err = r.Checkout(b.Context(), first, from)
	require.NoError(b, err)
	each := func(b *testing.B, make func(dir string) error) {
		for i := 0; b.Loop(); i++ {
			dir := filepath.Join(base, b.Name(), fmt.Sprint(i))
			require.NoError(b, os.MkdirAll(filepath.Dir(dir), 0o755))
			require.NoError(b, make(dir))
			b.StopTimer()
			require.NoError(b, os.RemoveAll(dir))
			b.StartTimer()
		}
	}
	b.Run("advanced by one file", func(b *testing.B) {
		dir := filepath.Join(base, "advanced")
		_, err := r.Checkout(b.Context(), first, dir)
		require.NoError(b, err)
		at, to := first, second
		for b.Loop() {
			_, err := r.Advance(b.Context(), at, to, dir, nil)
			require.NoError(b, err)
			at, to = to, at
		}
	})
	b.Run("written from the mirror", func(b *testing.B) {
		each(b, func(dir string) error { _, err := r.Checkout(b.Context(), first, dir); return err })
	})
	b.Run("copied", func(b *testing.B) { each(b, func(dir string) error { return os.CopyFS(dir, os.DirFS(from)) }) })
	b.Run("copied by cp -rf", func(b *testing.B) {
		each(b, func(dir string) error { return exec.Command("cp", "-rf", from, dir).Run() })
	})
	b.Run("linked", func(b *testing.B) {
		each(b, func(dir string) error {
			return filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
				to := filepath.Join(dir, strings.TrimPrefix(path, from))
				if err != nil || entry.IsDir() {
					return os.MkdirAll(to, 0o755)
				}
				return os.Link(path, to)
			})
		})
	})
}
