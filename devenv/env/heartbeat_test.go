// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster/none"
)

// apiServer answers that it is ready, and counts the connections that it gets.
func apiServer(t *testing.T) (url string, connections *atomic.Int32) {
	t.Helper()
	connections = &atomic.Int32{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			http.NotFound(w, r)
		}
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL, connections
}

func writeKubeconfig(t *testing.T, file, server string) {
	t.Helper()
	content := fmt.Sprintf(`{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
clusters: [{name: c, cluster: {server: "%s"}}]}`, server)
	require.NoError(t, os.WriteFile(file+".new", []byte(content), 0o600))
	require.NoError(t, os.Rename(file+".new", file))
}

func TestTheHealthOfAClusterIsAskedOverOneConnectionUntilItsKubeconfigChanges(t *testing.T) {
	t.Parallel()
	first, firstConnections := apiServer(t)
	second, secondConnections := apiServer(t)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	health := &healthClient{}
	t.Cleanup(health.close)
	ask := func() error { return health.ask(t.Context(), none.Provider{}, file) }
	require.ErrorIs(t, ask(), os.ErrNotExist)
	writeKubeconfig(t, file, first)
	for range 3 {
		require.NoError(t, ask())
	}
	require.EqualValues(t, 1, firstConnections.Load())
	writeKubeconfig(t, file, first) // the same again
	require.NoError(t, ask())
	require.EqualValues(t, 1, firstConnections.Load())
	writeKubeconfig(t, file, second)
	for range 3 {
		require.NoError(t, ask())
	}
	require.EqualValues(t, 1, firstConnections.Load())
	require.EqualValues(t, 1, secondConnections.Load())
	require.NoError(t, os.Remove(file))
	require.ErrorIs(t, ask(), os.ErrNotExist)
}
