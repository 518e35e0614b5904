// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

// closing is a server whose time for idle connections ends as the second request arrives: it closes the connection
// without an answer.
func closing(t *testing.T, next http.Handler) *httptest.Server {
	t.Helper()
	var requests atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, sent := r.Header["Idempotency-Key"]; sent {
			http.Error(w, "an Idempotency-Key is sent", http.StatusBadRequest)
			return
		}
		if requests.Add(1) != 2 {
			next.ServeHTTP(w, r)
			return
		}
		if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = connection.Close()
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestAQueryOnAConnectionThatTheServerClosesIsSentAgain(t *testing.T) {
	t.Parallel()
	prom := closing(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(matrix))
	}))
	google := newGoogle(t, func(string, map[string]any) (int, string) { return http.StatusOK, matrix })
	stackdriver := google.provider(t, config.StackdriverConfig{ServiceAccountFile: google.serviceAccount(t)})
	stackdriver.monitoring.Host = closing(t, google.Config.Handler).Listener.Addr().String()
	for name, metrics := range map[string]Metrics{
		"Prometheus": prometheusAt(t, config.PrometheusConfig{Address: prom.URL}), "Google Cloud": stackdriver,
	} {
		for range 3 {
			answer, err := metrics.Query(t.Context(), "up", lastHour)
			require.NoError(t, err, name)
			require.Len(t, answer.Points, 2, name)
		}
	}
}
