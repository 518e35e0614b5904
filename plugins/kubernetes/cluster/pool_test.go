// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/system/porttest"
)

type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) Infof(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, fmt.Sprintf(format, args...))
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.text...)
}

func (l *lines) waitFor(t *testing.T, part string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(strings.Join(l.all(), "\n"), part) }, time.Minute,
		time.Millisecond)
}

func kubeconfig(address string) string {
	return `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "` + address + `"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: team}}]
current-context: x
`
}

func writeKubeconfig(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// api is an API that answers /readyz with a status.
func api(t *testing.T, status *atomic.Int32) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(status.Load()))
		fmt.Fprintln(w, "[-]etcd failed")
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func ok() *atomic.Int32 {
	status := &atomic.Int32{}
	status.Store(http.StatusOK)
	return status
}

type connected struct {
	client *cluster.Client
	err    error
}

func connect(ctx context.Context, pool *cluster.Pool, path string, log *lines) <-chan connected {
	ended := make(chan connected, 1)
	go func() {
		client, err := pool.Connect(ctx, config.DeployTarget{KubeConfigPath: path}, log)
		ended <- connected{client, err}
	}()
	return ended
}

func TestAClientIsReusedUntilTheKubeconfigChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	first, second := api(t, ok()), api(t, ok())
	pool, log := cluster.NewPool(), &lines{}
	defer pool.Close()
	writeKubeconfig(t, path, kubeconfig(first))
	one := <-connect(t.Context(), pool, path, log)
	require.NoError(t, one.err)
	require.Equal(t, "team", one.client.Namespace)
	again := <-connect(t.Context(), pool, path, log)
	require.Same(t, one.client, again.client)
	writeKubeconfig(t, path, kubeconfig(second))
	other := <-connect(t.Context(), pool, path, log)
	require.NoError(t, other.err)
	require.Contains(t, other.client.Server, strings.TrimPrefix(second, "http://"))
	require.Empty(t, log.all(), "nothing was waited for")
}

func TestThePoolIsBounded(t *testing.T) {
	t.Parallel()
	address := api(t, ok())
	pool, dir := cluster.NewPool(), t.TempDir()
	defer pool.Close()
	get := func(i int) *cluster.Client {
		path := filepath.Join(dir, fmt.Sprint(i))
		writeKubeconfig(t, path, kubeconfig(address))
		c := <-connect(t.Context(), pool, path, &lines{})
		require.NoError(t, c.err)
		return c.client
	}
	first := get(0)
	for i := 1; i < 64; i++ {
		get(i)
	}
	require.Same(t, first, get(0), "used just now, so it stays")
	second := get(1)
	for i := 64; i < 127; i++ {
		get(i)
	}
	require.Same(t, second, get(1))
	require.NotSame(t, first, get(0), "used longest ago")
}

func TestAConnectWaitsForTheKubeconfigAndTheAPI(t *testing.T) {
	t.Parallel()
	address := porttest.Address(t)
	path := filepath.Join(t.TempDir(), "later", "kubeconfig")
	pool, log := cluster.NewPool(), &lines{}
	defer pool.Close()
	ended := connect(t.Context(), pool, path, log)
	log.waitFor(t, "waiting for the Kubernetes API: there is no kubeconfig at "+path)
	writeKubeconfig(t, path, "")
	writeKubeconfig(t, path, kubeconfig("http://"+address))
	log.waitFor(t, "waiting for the Kubernetes API at http://"+address)

	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	server := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	got := <-ended
	require.NoError(t, got.err)
	require.Len(t, log.all(), 3, "one line for each thing that was waited for, and one for the end: %q", log.all())
}

func TestAnAPIThatIsNotReadyIsWaitedFor(t *testing.T) {
	t.Parallel()
	status := &atomic.Int32{}
	status.Store(http.StatusInternalServerError)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	writeKubeconfig(t, path, kubeconfig(api(t, status)))
	pool, log := cluster.NewPool(), &lines{}
	defer pool.Close()
	ended := connect(t.Context(), pool, path, log)
	log.waitFor(t, "still starting: [-]etcd failed")
	status.Store(http.StatusOK)
	require.NoError(t, (<-ended).err)

	status.Store(http.StatusInternalServerError)
	pool.Patience = time.Millisecond
	require.NoError(t, (<-connect(t.Context(), pool, path, log)).err,
		"one failing check must not keep a cluster that works from being used")
}

func TestAWaitThatIsTooLongEndsWithTheReason(t *testing.T) {
	t.Parallel()
	status := &atomic.Int32{}
	status.Store(http.StatusUnauthorized)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	pool := cluster.NewPool()
	defer pool.Close()
	pool.Patience = time.Millisecond
	require.ErrorContains(t, (<-connect(t.Context(), pool, path, &lines{})).err, "there is no kubeconfig at "+path)
	writeKubeconfig(t, path, kubeconfig(api(t, status)))
	require.ErrorContains(t, (<-connect(t.Context(), pool, path, &lines{})).err, "401 Unauthorized")
	writeKubeconfig(t, path, "clusters: [")
	require.ErrorContains(t, (<-connect(t.Context(), pool, path, &lines{})).err,
		"check the deploy target's kubeConfigPath")
}

func TestACancelEndsTheWaitForTheAPI(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	log := &lines{}
	ended := connect(ctx, cluster.NewPool(), filepath.Join(t.TempDir(), "never"), log)
	log.waitFor(t, "waiting")
	stopped := errors.New("stopped")
	cancel(stopped)
	require.ErrorIs(t, (<-ended).err, stopped)
}
