// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// large is a repository with a file that does not compress, and the name of the file's object.
func large(t *testing.T, size int) (u *userRepo, head string, blob plumbing.Hash) {
	t.Helper()
	u = newUserRepo(t)
	content := make([]byte, size)
	_, _ = rand.New(rand.NewSource(1)).Read(content) //nolint:gosec // only has to be hard to compress
	u.write("large", string(content))
	head = u.commit("Large")
	return u, head, plumbing.NewHash(strings.TrimSpace(u.git("rev-parse", "HEAD:large")))
}

func TestALargeObjectIsCopiedAsItIs(t *testing.T) {
	t.Parallel()
	u, head, blob := large(t, largeObject+1)
	want, err := os.ReadFile(loosePath(filepath.Join(u.dir, ".git", "objects"), blob))
	require.NoError(t, err)
	r := open(t, u.dir)
	_, err = r.Update(t.Context())
	require.NoError(t, err)
	got, err := os.ReadFile(loosePath(filepath.Join(r.options.Dir, "objects"), blob))
	require.NoError(t, err)
	require.True(t, string(want) == string(got), "it is not compressed again")
	dir := filepath.Join(t.TempDir(), "checkout")
	_, err = r.Checkout(t.Context(), head, dir)
	require.NoError(t, err)
	requireSameFile(t, filepath.Join(u.dir, "large"), filepath.Join(dir, "large"))
	u.fsck(t, r)
}

func TestALargeObjectOfAPackIsCopiedIntoASeparateFile(t *testing.T) {
	t.Parallel()
	u, _, blob := large(t, largeObject+1)
	for i := range packFrom {
		u.write("many/"+strings.Repeat("x", i+1), strings.Repeat("y", i))
	}
	head := u.commit("Many")
	u.git("gc", "-q")
	r := open(t, u.dir)
	_, err := r.Update(t.Context())
	require.NoError(t, err)
	require.FileExists(t, loosePath(filepath.Join(r.options.Dir, "objects"), blob))
	require.Len(t, packsOf(t, r), 1)
	dir := filepath.Join(t.TempDir(), "checkout")
	_, err = r.Checkout(t.Context(), head, dir)
	require.NoError(t, err)
	requireSameFile(t, filepath.Join(u.dir, "large"), filepath.Join(dir, "large"))
	u.fsck(t, r)
}

func requireSameFile(t *testing.T, want, got string) {
	t.Helper()
	expected, err := os.ReadFile(want)
	require.NoError(t, err)
	written, err := os.ReadFile(got)
	require.NoError(t, err)
	require.True(t, string(expected) == string(written))
}

// endingContext ends when it was asked a number of times.
type endingContext struct {
	context.Context
	left atomic.Int64
}

func (c *endingContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestTheWorkOnALargeObjectEndsWithItsContext(t *testing.T) {
	t.Parallel()
	u, head, blob := large(t, largeObject+1)
	for name, gc := range map[string]bool{"a file": false, "a pack": true} {
		if gc {
			u.git("gc", "-q")
		}
		r := open(t, u.dir)
		ending := &endingContext{Context: t.Context()}
		ending.left.Store(40)
		_, err := r.Update(ending)
		require.ErrorIs(t, err, context.Canceled, name)
		require.NoFileExists(t, loosePath(filepath.Join(r.options.Dir, "objects"), blob), name)
		require.Empty(t, namesIn(t, r.mirror.packDir()), name)

		_, err = r.Update(t.Context())
		require.NoError(t, err, name)
		ending.left.Store(40)
		_, err = r.Checkout(ending, head, filepath.Join(t.TempDir(), "checkout"))
		require.ErrorIs(t, err, context.Canceled, name)
	}
}

func TestADamagedObjectIsNotCopied(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(data []byte) []byte{
		"cut off":       func(data []byte) []byte { return data[:len(data)/2] },
		"longer":        func(data []byte) []byte { return append(data, 'x') },
		"another one":   func([]byte) []byte { return []byte("x\x9cK\xca\xc9OR0d\x00\x00\x18\xac\x04\x94") },
		"a flipped bit": func(data []byte) []byte { data[len(data)/2] ^= 1; return data },
		"empty":         func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, _, blob := large(t, 1000)
			file := loosePath(filepath.Join(u.dir, ".git", "objects"), blob)
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.Chmod(file, 0o600))
			require.NoError(t, os.WriteFile(file, damage(data), 0o600))
			r := open(t, u.dir)
			_, err = r.Update(t.Context())
			require.ErrorIs(t, err, ErrDamaged)
			require.ErrorContains(t, err, "git -C "+u.dir+" fsck --full")
			require.NoFileExists(t, loosePath(filepath.Join(r.options.Dir, "objects"), blob))
			require.Empty(t, namesIn(t, r.mirror.packDir()))
		})
	}
}

func TestARepositoryThatCannotBeReadSaysWhyAndWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(t *testing.T, u *userRepo)
		reason error
		next   string
	}{
		"a broken configuration": {func(t *testing.T, u *userRepo) {
			require.NoError(t, os.WriteFile(filepath.Join(u.dir, ".git", "config"), []byte("[core\n"), 0o600))
		}, ErrSettings, "config --list"},
		"SHA-256": {func(t *testing.T, u *userRepo) {
			require.NoError(
				t,
				os.WriteFile(
					filepath.Join(u.dir, ".git", "config"),
					[]byte("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"), 0o600,
				),
			)
		}, ErrUnsupported, "use a repository with SHA-1 names"},
		"no objects": {func(t *testing.T, u *userRepo) {
			require.NoError(t, os.RemoveAll(filepath.Join(u.dir, ".git", "objects")))
			require.NoError(t, os.Mkdir(filepath.Join(u.dir, ".git", "objects"), 0o700))
		}, ErrDamaged, "fsck --full"},
		"a tree that is gone": {func(t *testing.T, u *userRepo) {
			tree := plumbing.NewHash(strings.TrimSpace(u.git("rev-parse", "HEAD^{tree}")))
			require.NoError(t, os.Remove(loosePath(filepath.Join(u.dir, ".git", "objects"), tree)))
		}, ErrDamaged, "fsck --full"},
		"a configuration of a later format": {func(t *testing.T, u *userRepo) {
			require.NoError(
				t,
				os.WriteFile(
					filepath.Join(u.dir, ".git", "config"),
					[]byte("[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n"), 0o600,
				),
			)
		}, ErrUnsupported, "git refs migrate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, _, _ := large(t, 1000)
			c.damage(t, u)
			_, err := open(t, u.dir).Update(t.Context())
			require.ErrorIs(t, err, c.reason)
			require.ErrorContains(t, err, c.next)
		})
	}
}
