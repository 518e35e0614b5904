// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
	"github.com/pipedeck/pipedeck/system/servicefile"
)

var lastHour = Range{From: time.Unix(1_800_000_000, 0), To: time.Unix(1_800_003_600, 0), Step: 90 * time.Second}

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

func prometheusAt(t *testing.T, c config.PrometheusConfig) Metrics {
	t.Helper()
	data, err := json.Marshal(c)
	require.NoError(t, err)
	metrics, err := NewMetrics(&config.Provider{Name: "prom", Type: config.Prometheus, Config: data})
	require.NoError(t, err)
	t.Cleanup(metrics.Close)
	return metrics
}

const matrix = `{"status":"success","warnings":["slow"],"data":{"resultType":"matrix","result":[
	{"metric":{"a":"b"},"values":[[1800000000,"1.5"],[1800000090.5,"NaN"]]},
	{"metric":{},"values":[[1800000000,"+Inf"]]}]}}`

func TestPrometheusIsAskedForARange(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/prefix/api/v1/query_range" || r.FormValue("query") != `a{b="c"}` ||
			r.FormValue("start") != "1800000000.000" || r.FormValue("end") != "1800003600.000" ||
			r.FormValue("step") != "90" {
			http.Error(w, r.URL.String(), http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(matrix))
	}))
	t.Cleanup(s.Close)
	answer, err := prometheusAt(t, config.PrometheusConfig{Address: s.URL + "/prefix/"}).
		Query(t.Context(), `a{b="c"}`, lastHour)
	require.NoError(t, err)
	require.Equal(t, 2, answer.Series)
	require.Len(t, answer.Points, 2)
	require.InDelta(t, 1.5, answer.Values()[0], 0)
	require.Equal(t, 1, answer.NotNumbers)
	require.Equal(t, []string{"slow"}, answer.Warnings)
}

func TestAServerThatTakesNoFormIsAskedByGET(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		_, _ = w.Write([]byte(matrix))
	}))
	t.Cleanup(s.Close)
	answer, err := prometheusAt(t, config.PrometheusConfig{Address: s.URL}).Query(t.Context(), "a", lastHour)
	require.NoError(t, err)
	require.Len(t, answer.Points, 2)
}

func TestPrometheusKnowsWhoAsks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config config.PrometheusConfig
		want   string
	}{
		"a user and a password": {config.PrometheusConfig{UsernameFile: file(t, "ada\n"),
			PasswordFile: file(t, "secret\n")}, "Basic YWRhOnNlY3JldA=="},
		"a token": {config.PrometheusConfig{BearerTokenFile: file(t, "secret\n")}, "Bearer secret"},
		"no one":  {config.PrometheusConfig{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != c.want {
					http.Error(w, "who are you", http.StatusUnauthorized)
					return
				}
				_, _ = w.Write([]byte(matrix))
			}))
			t.Cleanup(s.Close)
			with := c.config
			with.Address = s.URL
			_, err := prometheusAt(t, with).Query(t.Context(), "a", lastHour)
			require.NoError(t, err)
		})
	}
	_, err := prometheusAt(t, config.PrometheusConfig{Address: "http://127.0.0.1:1", BearerTokenFile: "/absent"}).
		Query(t.Context(), "a", lastHour)
	require.ErrorContains(t, err, "config.bearerTokenFile: open /absent")
}

func TestPrometheusWithTLS(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(matrix))
	}))
	t.Cleanup(s.Close)
	_, err := prometheusAt(t, config.PrometheusConfig{Address: s.URL}).Query(t.Context(), "a", lastHour)
	require.ErrorContains(t, err, "certificate")

	ca := file(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	for _, settings := range []config.TLS{{CAFile: ca}, {InsecureSkipVerify: true}} {
		_, err = prometheusAt(t, config.PrometheusConfig{Address: s.URL, TLS: &settings}).
			Query(t.Context(), "a", lastHour)
		require.NoError(t, err)
	}
	_, err = newTransport(&config.TLS{CAFile: file(t, "nothing")})
	require.ErrorContains(t, err, "holds no certificate")
}

func TestWhatPrometheusRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code       int
		body, want string
	}{
		"a query": {400, `{"status":"error","errorType":"bad_data","error":"parse error"}`,
			"refused the query: bad_data: parse error"},
		"everything":      {503, "try\n later", "the answer has the status 503 Service Unavailable: try later"},
		"another service": {200, "<html>", "did not answer as Prometheus does: <html>"},
		"another value": {200, `{"status":"success","data":{"resultType":"matrix","result":[{"values":[[1,2]]}]}}`,
			"did not answer as Prometheus does"},
		"another type": {200, `{"status":"success","data":{"resultType":"streams"}}`, `answered a "streams"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.code)
				_, _ = w.Write([]byte(c.body))
			}))
			t.Cleanup(s.Close)
			address := strings.Replace(s.URL, "://", "://ada:secret@", 1)
			_, err := prometheusAt(t, config.PrometheusConfig{Address: address}).Query(t.Context(), "a", lastHour)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestAQueryEndsWithItsTimeout(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(done) })
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(10*time.Millisecond))
	defer cancel()
	_, err := prometheusAt(t, config.PrometheusConfig{Address: s.URL}).Query(ctx, "a", lastHour)
	require.ErrorContains(t, err, "no answer within the timeout of the query")
}

func TestTheAddressOfAServiceIsReadAtEachQuery(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(matrix))
	}))
	t.Cleanup(s.Close)
	services := file(t, "PIPEDECK_SERVICE_OTHER_URL=http://a:hidden@127.0.0.1:1\nPIPEDECK_SERVICE_WRONG_URL=hidden\n")
	t.Setenv(servicefile.Variable, services)
	p := prometheusAt(t, config.PrometheusConfig{Address: "{{ .Services.METRICS_URL }}/prefix"})
	_, err := p.Query(t.Context(), "a", lastHour)
	require.EqualError(t, err, "config.address: no Service of the environment has this address now; it has those of: "+
		"OTHER_URL, WRONG_URL")
	_, err = prometheusAt(t, config.PrometheusConfig{Address: "{{ .Services.WRONG_URL }}"}).
		Query(t.Context(), "a", lastHour)
	require.ErrorContains(t, err, "config.address is not a URL of http or https")
	require.NotContains(t, err.Error(), "hidden")
	require.NoError(t, os.WriteFile(services, []byte("PIPEDECK_SERVICE_METRICS_URL="+s.URL+"\n"), 0o600))
	_, err = p.Query(t.Context(), "a", lastHour)
	require.NoError(t, err)
}
