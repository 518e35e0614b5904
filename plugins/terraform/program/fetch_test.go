// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/terraform/config"
)

// archive is a zip with these files.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	for name, content := range files {
		file, err := w.Create(name)
		require.NoError(t, err)
		_, err = file.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return buffer.Bytes()
}

// served is a server of one content, which counts its requests, and the program in the content.
func served(t *testing.T, content []byte) (config.Program, *atomic.Int32) {
	t.Helper()
	asked := &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	sum := sha256.Sum256(content)
	return config.Program{Version: "1.12.6", URL: server.URL + "/tofu.zip?token=hidden",
		SHA256: hex.EncodeToString(sum[:])}, asked
}

func TestAProgramIsDownloadedOnceAndKept(t *testing.T) {
	t.Parallel()
	wanted, asked := served(t, archive(t, map[string]string{"LICENSE": "words", "tofu": "#!/bin/sh\n"}))
	dir := filepath.Join(t.TempDir(), "programs")
	store := NewStore(dir)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			found, err := store.Get(t.Context(), wanted)
			if err != nil || found != filepath.Join(dir, wanted.SHA256, "tofu") {
				t.Error(found, err)
			}
		})
	}
	group.Wait()
	found, err := NewStore(dir).Get(t.Context(), wanted)
	require.NoError(t, err)
	info, err := os.Stat(found)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.Equal(t, int32(1), asked.Load())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing else is left")
}

func TestAProgramWithAnotherChecksumIsRefused(t *testing.T) {
	t.Parallel()
	wanted, _ := served(t, archive(t, map[string]string{"tofu": "#!/bin/sh\n"}))
	other := sha256.Sum256([]byte("other"))
	have := wanted.SHA256
	wanted.SHA256 = hex.EncodeToString(other[:])
	dir := t.TempDir()
	_, err := NewStore(dir).Get(t.Context(), wanted)
	require.ErrorContains(t, err, "its SHA-256 is "+have+", and the configuration has "+wanted.SHA256)
	require.ErrorContains(t, err, "/tofu.zip: ")
	require.NotContains(t, err.Error(), "hidden")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestAnArchiveWithoutTheProgramIsRefused(t *testing.T) {
	t.Parallel()
	wanted, _ := served(t, archive(t, map[string]string{"README.md": "words"}))
	_, err := NewStore(t.TempDir()).Get(t.Context(), wanted)
	require.ErrorContains(t, err, "the archive has no tofu or terraform")
}

func TestAServerThatRefusesIsReported(t *testing.T) {
	t.Parallel()
	wanted, _ := served(t, nil)
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	wanted.URL = server.URL + "/tofu.zip"
	_, err := NewStore(t.TempDir()).Get(t.Context(), wanted)
	require.ErrorContains(t, err, "the server answers 404 Not Found\nnext step: ")
}

func TestARedirectDoesNotLeaveProtectedAddresses(t *testing.T) {
	t.Parallel()
	wanted, _ := served(t, nil)
	server := httptest.NewServer(http.RedirectHandler("http://example.org/tofu.zip", http.StatusFound))
	t.Cleanup(server.Close)
	wanted.URL = server.URL
	_, err := NewStore(t.TempDir()).Get(t.Context(), wanted)
	require.ErrorContains(t, err, "has to begin with https://")
}

func TestAProgramThatIsNoArchiveIsUsedAsItIs(t *testing.T) {
	t.Parallel()
	wanted, _ := served(t, []byte("#!/bin/sh\n"))
	server := wanted.URL
	wanted.URL = server[:len(server)-len("/tofu.zip?token=hidden")] + "/tofu"
	found, err := NewStore(t.TempDir()).Get(t.Context(), wanted)
	require.NoError(t, err)
	require.Equal(t, "tofu", filepath.Base(found))
}

// A download may take minutes: it holds up neither those who want a program that is there, nor those who give up.
func TestADownloadHoldsUpNoOneElse(t *testing.T) {
	t.Parallel()
	there, _ := served(t, []byte("#!/bin/sh\n"))
	asked, goOn := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-goOn
	}))
	t.Cleanup(slow.Close)
	store := NewStore(t.TempDir())
	want, err := store.Get(t.Context(), there)
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = store.Get(t.Context(), config.Program{URL: slow.URL, SHA256: "aa"})
	}()
	<-asked
	defer func() {
		close(goOn)
		<-ended
	}()

	found, err := store.Get(t.Context(), there)
	require.NoError(t, err)
	require.Equal(t, want, found)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the stage was cancelled"))
	_, err = store.Get(ctx, config.Program{URL: slow.URL, SHA256: "bb"})
	require.EqualError(t, err, "wait for another download: the stage was cancelled")
}
