// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestABinaryIsReadAgainOnlyWhenItHasChanged(t *testing.T) {
	t.Parallel()
	p := &binaries{dir: t.TempDir(), logger: slog.New(slog.DiscardHandler)}
	source := filepath.Join(t.TempDir(), "plugin")
	begun := time.Now()
	require.NoError(t, os.WriteFile(source, []byte("one"), 0o700))
	first, err := p.local("p", source)
	require.NoError(t, err)
	if time.Since(begun) < settledAfter { // else this machine was too busy to see it
		require.Nil(t, p.scanned.Load(), "it has changed a moment ago, and may do so again in the same moment")
	}

	// As time passes the result counts.
	require.Eventually(t, func() bool {
		_, err := p.local("p", source)
		require.NoError(t, err)
		return p.scanned.Load() != nil
	}, time.Minute, 50*time.Millisecond)
	known := p.scanned.Load()
	again, err := p.local("p", source)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Same(t, known, p.scanned.Load(), "it was not read")

	require.NoError(t, os.Remove(first.path))
	again, err = p.local("p", source)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.FileExists(t, first.path, "a copy that is gone is made again")

	// Another content of the same size, with the time of the one before, as an archive would put it there.
	info, err := os.Stat(source)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(source, []byte("two"), 0o700))
	require.NoError(t, os.Chtimes(source, info.ModTime(), info.ModTime()))
	other, err := p.local("p", source)
	require.NoError(t, err)
	require.NotEqual(t, first, other)
	text, err := os.ReadFile(other.path)
	require.NoError(t, err)
	require.Equal(t, "two", string(text))
}

func TestACopyThatWasDamagedOrExchangedIsNotRun(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "plugin")
	require.NoError(t, os.WriteFile(source, []byte("good"), 0o700))
	for what, harm := range map[string]func(path string) error{
		"another program of the same size": func(path string) error {
			return os.WriteFile(
				path, []byte("evil"), 0o700,
			)
		},
		"a bit has flipped": func(path string) error {
			return os.WriteFile(
				path, []byte("goof"), 0o700,
			)
		},
		"a link to another program": func(path string) error {
			if err := os.WriteFile(path+".other", []byte("good"), 0o700); err != nil {
				return err
			}
			return errors.Join(os.Remove(path), os.Symlink(path+".other", path))
		},
		"not executable": func(path string) error { return os.Chmod(path, 0o600) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var said strings.Builder
			dir := t.TempDir()
			start := func() binary {
				p := &binaries{dir: dir, logger: slog.New(slog.NewTextHandler(&said, nil))}
				b, err := p.local("p", source)
				require.NoError(t, err)
				return b
			}
			first := start()
			require.Equal(t, first, start())
			require.Empty(t, said.String())
			info, err := os.Stat(first.path)
			require.NoError(t, err)
			require.NoError(t, harm(first.path))
			if target, err := os.Readlink(first.path); err != nil || target == "" {
				require.NoError(t, os.Chtimes(first.path, info.ModTime(), info.ModTime()))
			}

			require.Equal(t, first, start())
			require.Contains(t, said.String(), "was damaged or exchanged")
			found, err := os.Lstat(first.path)
			require.NoError(t, err)
			require.True(t, found.Mode().IsRegular())
			require.Equal(t, os.FileMode(0o700), found.Mode().Perm())
			text, err := os.ReadFile(first.path)
			require.NoError(t, err)
			require.Equal(t, "good", string(text))
		})
	}
}
