// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package existing

import (
	"context"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/system/chantest"
)

// server answers as an API server does to the two questions that are asked.
type server struct {
	*httptest.Server
	status atomic.Int32
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.status.Store(http.StatusOK)
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(s.status.Load()))
		if r.URL.Path == "/version" {
			fmt.Fprint(w, `{"gitVersion":"v1.36.3"}`)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// kubeconfig reaches the server by a relative path, under a name.
func (s *server) kubeconfig(t *testing.T, name, token string) string {
	t.Helper()
	dir := t.TempDir()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.pem"), ca, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o600))
	file := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `current-context: %s
contexts: [{name: %s, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: %q, certificate-authority: ca.pem}}]
users: [{name: u, user: {tokenFile: token}}]
`, name, name, s.URL), 0o600))
	return file
}

// run is a provider at work.
type run struct {
	provider *Provider
	stop     context.CancelFunc
	ended    chan error
	ready    chan string
	said     chan string
}

func start(t *testing.T, kubeconfig string, load LoadIntoKind) *run {
	t.Helper()
	found, err := Find(kubeconfig, "")
	require.NoError(t, err)
	r := &run{ended: make(chan error, 1), ready: make(chan string, 16), said: make(chan string, 1)}
	r.provider = New(Config{
		Context: found, Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"), LoadIntoKind: load,
		Logger: slog.New(slog.DiscardHandler),
	})
	r.provider.lookEvery, r.provider.waitEvery = time.Millisecond, time.Millisecond
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ended <- r.provider.Run(ctx, r.progress, func(detail string) { r.ready <- detail })
	}()
	t.Cleanup(func() { stop(); <-done })
	return r
}

// progress keeps the last line.
func (r *run) progress(detail string, _, _ int64) {
	select {
	case <-r.said:
	default:
	}
	r.said <- detail
}

func (r *run) awaitSaid(t *testing.T, part string) {
	t.Helper()
	for !strings.Contains(chantest.Receive(t, r.said), part) {
		continue
	}
}

func TestAnExistingClusterIsReadyAndLosesNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	kubeconfig := s.kubeconfig(t, "kind-dev", "secret")
	r := start(t, kubeconfig, nil)
	require.Equal(t, "context kind-dev, "+s.URL+", Kubernetes v1.36.3", chantest.Receive(t, r.ready))
	description := r.provider.Describe()
	require.Equal(t, cluster.Existing, description.Kind)
	require.False(t, description.Simulated)
	require.FileExists(t, description.Kubeconfig)
	r.stop()
	require.NoError(t, chantest.Receive(t, r.ended))
	require.NoError(t, r.provider.Delete(context.Background()))
	require.NoFileExists(t, description.Kubeconfig)
	require.FileExists(t, kubeconfig)
	require.NoError(t, r.provider.Delete(context.Background()), "there may be nothing to delete")
}

func TestAnAPIThatGoesAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	r := start(t, s.kubeconfig(t, "kind-dev", "secret"), nil)
	chantest.Receive(t, r.ready)
	for range 2 {
		s.status.Store(http.StatusServiceUnavailable)
		r.awaitSaid(t, "waiting for "+s.URL+": it is not ready (HTTP 503)")
		s.status.Store(http.StatusOK)
		require.Contains(t, chantest.Receive(t, r.ready), "v1.36.3", "it says that it is back")
	}
	require.Empty(t, r.ended)
}

func TestAClusterThatIsStartingIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.status.Store(http.StatusInternalServerError)
	r := start(t, s.kubeconfig(t, "kind-dev", "secret"), nil)
	r.awaitSaid(t, "waiting for "+s.URL)
	s.status.Store(http.StatusOK)
	chantest.Receive(t, r.ready)
}

func TestAClusterThatDoesNotAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	kubeconfig := s.kubeconfig(t, "kind-dev", "secret")
	s.Close()
	found, err := Find(kubeconfig, "")
	require.NoError(t, err)
	p := New(Config{Context: found, Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"),
		Logger: slog.New(slog.DiscardHandler)})
	p.readyWithin, p.waitEvery = 20*time.Millisecond, time.Millisecond
	err = p.Run(t.Context(), func(string, int64, int64) {}, func(string) {})
	require.ErrorContains(t, err, s.URL)
	var hint *cluster.HintError
	require.ErrorAs(t, err, &hint)
	require.Contains(t, hint.Hint, "kubectl --context kind-dev --kubeconfig "+kubeconfig)
}

func TestAClusterThatTurnsUsAwayIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	r := start(t, s.kubeconfig(t, "kind-dev", "wrong"), nil)
	err := chantest.Receive(t, r.ended)
	var hint *cluster.HintError
	require.ErrorAs(t, err, &hint)
	require.Contains(t, hint.Hint, "log in to the cluster again")
	require.NotContains(t, err.Error(), "wrong", "no secret is shown")
}

func TestOnlyAClusterOfKindTakesImages(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	loaded := ""
	load := func(_ context.Context, name, archive string, references []string) error {
		loaded = name + " " + archive + " " + references[0]
		return nil
	}
	r := start(t, s.kubeconfig(t, "kind-dev", "secret"), load)
	require.NoError(t, r.provider.LoadImage(t.Context(),
		cluster.Image{Archive: "image.tar", References: []string{"app:v1"}}))
	require.Equal(t, "dev image.tar app:v1", loaded)
	r = start(t, s.kubeconfig(t, "minikube", "secret"), load)
	require.ErrorIs(t, r.provider.LoadImage(t.Context(), cluster.Image{Archive: "image.tar"}), cluster.ErrNoImages)
	r = start(t, s.kubeconfig(t, "kind-dev", "secret"), nil)
	require.ErrorIs(t, r.provider.LoadImage(t.Context(), cluster.Image{Archive: "image.tar"}), cluster.ErrNoImages)
}
