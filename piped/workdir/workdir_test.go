// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAWorkDirectoryIsOursOrEmpty(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "piped")
	require.NoError(t, Claim(dir, slog.New(slog.DiscardHandler)))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sources", "1"), 0o700))
	require.NoError(t, os.Chmod(dir, 0o755))
	var said strings.Builder
	require.NoError(t, Claim(dir, slog.New(slog.NewTextHandler(&said, nil))), "the next start finds it again")
	require.Contains(t, said.String(), "was open to other users (mode 0755)")

	// A repository of the user's with a folder of that name: piped would have emptied the folder.
	theirs := filepath.Join(t.TempDir(), "sources", "main.c")
	require.NoError(t, os.MkdirAll(filepath.Dir(theirs), 0o755))
	require.NoError(t, os.WriteFile(theirs, []byte("dear"), 0o600))
	err := Claim(filepath.Dir(filepath.Dir(theirs)), slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "was not created by pipedeck and is not empty")
	require.ErrorContains(t, err, "--work-dir")
	require.FileExists(t, theirs)

	documents := t.TempDir()
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "sources")))
	require.NoError(t, os.Symlink(documents, filepath.Join(dir, "sources")))
	require.ErrorContains(t, Claim(dir, slog.New(slog.DiscardHandler)), "symbolic link")
	if os.Geteuid() != 0 {
		return
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "sources")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "spool"), 0o700))
	require.NoError(t, os.Chown(filepath.Join(dir, "spool"), 12345, 12345))
	require.ErrorContains(t, Claim(dir, slog.New(slog.DiscardHandler)), "belongs to another user")
}
