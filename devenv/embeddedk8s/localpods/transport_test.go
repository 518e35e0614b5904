// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	kubeprobe "k8s.io/kubernetes/pkg/probe"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
)

// probed is a program with all the answers that a probe may get.
type probed struct {
	*httptest.Server
	connections, open atomic.Int32
}

func newProbed(t *testing.T) *probed {
	t.Helper()
	hung := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Probe") != "yes" || !strings.HasPrefix(r.UserAgent(), "kube-probe/") {
			http.Error(w, "headers are missing", http.StatusBadRequest)
		}
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("x", 1<<20)))
	})
	mux.HandleFunc("/early", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = w.Write([]byte("late"))
	})
	mux.HandleFunc("/fails", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "secret", http.StatusServiceUnavailable)
	})
	mux.Handle("/moved", http.RedirectHandler("/ok", http.StatusFound))
	mux.Handle("/away", http.RedirectHandler("http://example.com/", http.StatusFound))
	mux.HandleFunc("/hangs", func(http.ResponseWriter, *http.Request) { <-hung })
	p := &probed{Server: httptest.NewUnstartedServer(mux)}
	p.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			p.connections.Add(1)
			p.open.Add(1)
		case http.StateClosed:
			p.open.Add(-1)
		}
	}
	p.Start()
	t.Cleanup(p.Close)
	t.Cleanup(func() { close(hung) })
	return p
}

// Each outcome is the one that Kubernetes' own prober has.
func TestAnHTTPProbeEndsAsKubernetesDoes(t *testing.T) {
	t.Parallel()
	server := newProbed(t)
	probe := func(
		by func(*http.Request, time.Duration) (kubeprobe.Result, string, error), url string,
	) (kubeprobe.Result, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err)
		request.Header.Set("X-Probe", "yes")
		request.Header.Set("User-Agent", "kube-probe/1.36")
		limit := patience
		if strings.HasSuffix(url, "/hangs") {
			limit = 300 * time.Millisecond
		}
		result, output, err := by(request, limit)
		require.NoError(t, err)
		return result, output
	}
	for path, want := range map[string]kubeprobe.Result{
		"/ok": kubeprobe.Success, "/large": kubeprobe.Success, "/early": kubeprobe.Success,
		"/fails": kubeprobe.Failure, "/hangs": kubeprobe.Failure, "/none": kubeprobe.Failure,
		"/moved": kubeprobe.Success, "/away": kubeprobe.Warning,
	} {
		before := server.connections.Load()
		result, output := probe(probeHTTP, server.URL+path)
		require.Equal(t, want, result, path)
		require.Greater(t, server.connections.Load(), before, "a new connection shows that the program takes them")
		theirs, theirOutput := probe(httpProber.Probe, server.URL+path)
		require.Equal(t, theirs, result, path)
		require.Equal(t, theirOutput, output, path)
	}
	require.Eventually(t, func() bool { return server.open.Load() <= 2 }, patience, 5*time.Millisecond,
		"only the connections of requests that hang are open")

	port, err := containers.NewPorts().Take() // which the system gives to no one else
	require.NoError(t, err)
	url := fmt.Sprintf("http://127.0.0.1:%d/", port)
	result, output := probe(probeHTTP, url)
	require.Equal(t, kubeprobe.Failure, result)
	_, theirs := probe(httpProber.Probe, url)
	require.Equal(t, theirs, output, "no one listens")
}
