// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEnsureKeepsTheSetItMade(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pki")
	now := time.Now()

	files, err := Ensure(dir, now)
	require.NoError(t, err)
	first, err := os.ReadFile(files.CA)
	require.NoError(t, err)

	_, err = Ensure(dir, now.Add(24*time.Hour))
	require.NoError(t, err)
	second, err := os.ReadFile(files.CA)
	require.NoError(t, err)
	require.Equal(t, first, second)
}

func TestEveryFileIsForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pki")
	_, err := Ensure(dir, time.Now())
	require.NoError(t, err)

	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), entry.Name())
	}
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestEnsureReplacesASetThatWillNotDo(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, files Files) time.Time{
		"a file is missing": func(t *testing.T, files Files) time.Time {
			require.NoError(t, os.Remove(files.Admin.Key))
			return time.Now()
		},
		"a file is damaged": func(t *testing.T, files Files) time.Time {
			require.NoError(t, os.WriteFile(files.Server.Cert, []byte("not a certificate"), 0o600))
			return time.Now()
		},
		"the certificates are about to end": func(*testing.T, Files) time.Time {
			return time.Now().Add(lifetime - time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "pki")
			files, err := Ensure(dir, time.Now())
			require.NoError(t, err)
			before, err := os.ReadFile(files.CA)
			require.NoError(t, err)

			now := spoil(t, files)
			files, err = Ensure(dir, now)
			require.NoError(t, err)
			require.NoError(t, usable(files, now))
			after, err := os.ReadFile(files.CA)
			require.NoError(t, err)
			require.NotEqual(t, before, after)
		})
	}
}

func TestADirectoryOfSomebodysKeysIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pki", "pki.new"} {
		root := t.TempDir()
		theirs := filepath.Join(root, name, "id_ed25519")
		require.NoError(t, os.Mkdir(filepath.Dir(theirs), 0o700))
		require.NoError(t, os.WriteFile(theirs, []byte("dear"), 0o600))
		_, err := Ensure(filepath.Join(root, "pki"), time.Now())
		require.ErrorContains(t, err, theirs)
		require.FileExists(t, theirs)
	}
}
