// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain makes the certificate of httptest one of the system, which Linux reads from a file.
func TestMain(m *testing.M) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	server.Close()
	dir, err := os.MkdirTemp("", "git-test-")
	if err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(file, certificate, 0o600); err != nil {
		panic(err)
	}
	os.Setenv("SSL_CERT_FILE", file)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func TestABranchIsFetchedByHTTPS(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	first := u.commit("First")
	server := httptest.NewTLSServer(backend(t, u.dir))
	t.Cleanup(server.Close)
	options := Options{
		ID: "apps", Remote: server.URL + "/.git", Branch: "main", Dir: t.TempDir(), Username: "ada", Password: "secret",
		Interval: time.Minute,
	}
	r, err := Open(t.Context(), options)
	require.NoError(t, err)
	head, err := r.Update(t.Context())
	require.NoError(t, err)
	require.Equal(t, first, head.Hash)

	options.Remote = strings.Replace(options.Remote, "127.0.0.1", "localhost", 1) // the certificate has not this name
	options.Dir = t.TempDir()
	r, err = Open(t.Context(), options)
	require.NoError(t, err)
	_, err = r.Update(t.Context())
	require.ErrorContains(t, err, "certificate")
	require.NotContains(t, err.Error(), "secret")
}
