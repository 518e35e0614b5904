// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPanicOfThePageIsLoggedAndSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "logs"), 0o700))
	said := make(chan string, 2)
	failing := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic("no such stage")
	}))
	reports := &failures{dir: dir, say: func(part, line string) { said <- part + ": " + line }}
	failing.Config.ErrorLog = log.New(reports, "", 0)
	failing.Start()
	t.Cleanup(failing.Close)
	_, err := http.Get(failing.URL)
	require.Error(t, err)
	line, path := <-said, filepath.Join(dir, "logs", "host.log")
	require.Regexp(t, "^web: the page has failed: http: panic serving .*: no such stage; more is in "+path+"$", line)
	logged, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(logged), "no such stage")
	require.Contains(t, string(logged), "failures_test.go", "where it came from")
}

// full is a log that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
func (full) Close() error              { return syscall.EIO }

func TestALogThatTakesNothingIsAnError(t *testing.T) {
	t.Parallel()
	err := record(full{}, "no such stage")
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorIs(t, err, syscall.EIO)
}

func TestABrowserThatRefusesTheCertificateIsNoFailure(t *testing.T) {
	t.Parallel()
	f := &failures{say: func(_, line string) { t.Error(line) }}
	n, err := f.Write([]byte("http: TLS handshake error from 192.168.0.9:1: remote error: tls: unknown certificate\n"))
	require.NoError(t, err)
	require.Positive(t, n)
}
