// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aead.dev/minisign"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestTheVersionIsADocument(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := command(t.Context(), t.TempDir(), "version", "-o", "json")
	require.Zero(t, code, stderr)
	var version document.Version
	clitest.Document(t, "version", stdout, &version)
	require.Equal(t, runtime.Version(), version.Go)
}

func TestAVerifiedArchiveIsADocument(t *testing.T) {
	t.Parallel()
	public, private, err := minisign.GenerateKey(rand.Reader)
	require.NoError(t, err)
	archive := filepath.Join(t.TempDir(), "pipedeck.tar.gz")
	require.NoError(t, os.WriteFile(archive, []byte("content"), 0o600))
	reader := minisign.NewReader(strings.NewReader("content"))
	_, err = io.Copy(io.Discard, reader)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(archive+".minisig", reader.Sign(private), 0o600))
	code, stdout, stderr := command(t.Context(), t.TempDir(), "version", "--verify", archive, "--key", public.String(),
		"-o", "json")
	require.Zero(t, code, stderr)
	var verified document.Verification
	clitest.Document(t, "verification", stdout, &verified)
	require.Equal(t, archive, verified.Archive)
}
