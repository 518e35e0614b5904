// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/chantest"
	"github.com/pipedeck/pipedeck/system/peeruser/otheruser"
)

// scrape returns what Prometheus gets.
func scrape(t *testing.T, w *workspace.Workspace) string {
	t.Helper()
	published, err := w.Published()
	require.NoError(t, err)
	answer, err := http.Get("http://" + published.Metrics + "/metrics")
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(text)
}

func TestProblemsOfTheHostAreMetrics(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	r := up(t, options(w))
	require.Contains(t, scrape(t, w), "go_goroutines")
	published, err := w.Published()
	require.NoError(t, err)
	r.stop()
	require.NoError(t, chantest.Receive(t, r.ended))
	require.NoError(t, os.Remove(w.History()))

	up(t, options(w))
	again, err := w.Published()
	require.NoError(t, err)
	require.Equal(t, published.Metrics, again.Metrics, "what was pointed at the metrics goes on working")
	const degraded = `pipedeck_degraded{component="control plane",id="history damage",part="history damage"} 1`
	text := scrape(t, w)
	require.Contains(t, text, degraded)
	require.Contains(t, text, "\npipedeck_healthy 0\n")
	notes, err := filepath.Glob(w.History() + ".missing-*")
	require.NoError(t, err)
	require.Len(t, notes, 1)
	require.NoError(t, os.Remove(notes[0]))
	require.Eventually(t, func() bool { return !strings.Contains(scrape(t, w), degraded) }, wait, 50*time.Millisecond)
}

func TestMetricsAreForTheUserOfTheEnvironment(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("this system does not report the user of a connection")
	}
	w := newWorkspace(t, "run")
	up(t, options(w))
	published, err := w.Published()
	require.NoError(t, err)
	answer := otheruser.Dial(t, published.Metrics, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")()
	require.Contains(t, answer, "HTTP/1.1 403 Forbidden")
}
