// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

func datadogAt(t *testing.T, c config.DatadogConfig) Metrics {
	t.Helper()
	data, err := json.Marshal(c)
	require.NoError(t, err)
	metrics, err := NewMetrics(&config.Provider{Name: "dd", Type: config.Datadog, Config: data})
	require.NoError(t, err)
	t.Cleanup(metrics.Close)
	return metrics
}

func TestDatadogIsAskedForPoints(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if r.Header.Get("DD-API-KEY") != "one" || r.Header.Get("DD-APPLICATION-KEY") != "two" {
			http.Error(w, `{"errors":["Forbidden"]}`, http.StatusForbidden)
			return
		}
		if r.URL.Path != "/api/v1/query" || query.Get("query") != "avg:a{b:c}" || query.Get("from") != "1800000000" ||
			query.Get("to") != "1800003600" {
			http.Error(w, r.URL.String(), http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(`{"status":"ok","series":[{"pointlist":[[1800000000000.0,1.5],[1800000060000.0,null]]},` +
			`{"pointlist":[]}]}`))
	}))
	t.Cleanup(s.Close)
	good := config.DatadogConfig{Address: s.URL, APIKeyFile: file(t, "one\n"), ApplicationKeyData: "dHdv"}
	answer, err := datadogAt(t, good).Query(t.Context(), "avg:a{b:c}", lastHour)
	require.NoError(t, err)
	require.Equal(t, 2, answer.Series)
	require.Equal(t, []float64{1.5}, answer.Values())
	require.Equal(t, 1, answer.NotNumbers)
	require.Equal(t, int64(1_800_000_000), answer.Points[0].At.Unix())

	wrong := good
	wrong.APIKeyFile = file(t, "hidden")
	_, err = datadogAt(t, wrong).Query(t.Context(), "avg:a{b:c}", lastHour)
	require.ErrorContains(t, err, `the answer has the status 403 Forbidden: {"errors":["Forbidden"]}`)
	require.NotContains(t, err.Error(), "hidden")

	wrong.APIKeyFile, wrong.APIKeyData = "", "hidden!"
	_, err = datadogAt(t, wrong).Query(t.Context(), "avg:a{b:c}", lastHour)
	require.EqualError(t, err, "config.apiKeyData is not base64")
}

func TestDatadogRefusesAQuery(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status":"error","error":"Rule 'scope' did not match"}`))
	}))
	t.Cleanup(s.Close)
	_, err := datadogAt(t, config.DatadogConfig{Address: s.URL, APIKeyData: "b25l", ApplicationKeyData: "dHdv"}).
		Query(t.Context(), "a", lastHour)
	require.ErrorContains(t, err, "refused the query: Rule 'scope' did not match")
}

func TestSitesOfDatadog(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"": "https://api.datadoghq.com/api/v1/query", "datadoghq.eu": "https://api.datadoghq.eu/api/v1/query",
		"api.datadoghq.eu": "https://api.datadoghq.eu/api/v1/query", "http://a:1": "http://a:1/api/v1/query",
	} {
		d, err := newDatadog(config.DatadogConfig{Address: address})
		require.NoError(t, err)
		require.Equal(t, want, d.endpoint.String())
	}
}
