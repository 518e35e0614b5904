// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package vendors

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/DataDog/datadog-api-client-go/v2/api/datadog"
	"github.com/DataDog/datadog-api-client-go/v2/api/datadogV1"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"google.golang.org/api/logging/v2"
	"google.golang.org/api/monitoring/v1"
	"google.golang.org/api/option"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
	"github.com/pipedeck/pipedeck/plugins/analysis/provider"
)

var hour = provider.Range{From: time.Unix(1_800_000_000, 0), To: time.Unix(1_800_003_600, 0), Step: 30 * time.Second}

// request is what two clients have to agree on.
type request struct {
	Method, Path string
	Query        url.Values
	Body         any
	Keys         []string
}

// server keeps requests and gives each the same answer.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []request
}

func newServer(t *testing.T, answer any) *server {
	t.Helper()
	encoded, err := json.Marshal(answer)
	require.NoError(t, err)
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/token" {
			_, _ = w.Write([]byte(`{"access_token":"t","token_type":"Bearer","expires_in":3600}`))
			return
		}
		one := request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query()}
		one.Query.Del("prettyPrint") // how the client of Google likes to read
		if data, _ := io.ReadAll(r.Body); len(data) > 0 {
			if err := json.Unmarshal(data, &one.Body); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		for _, header := range []string{"Authorization", "Dd-Api-Key", "Dd-Application-Key"} {
			one.Keys = append(one.Keys, r.Header.Get(header))
		}
		s.mu.Lock()
		s.asked = append(s.asked, one)
		s.mu.Unlock()
		_, _ = w.Write(encoded)
	}))
	t.Cleanup(s.Close)
	return s
}

// agree compares the two requests that the server has got: ours first.
func (s *server) agree(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.asked, 2)
	require.Equal(t, s.asked[1], s.asked[0])
}

func ours(t *testing.T, kind string, settings any) provider.Metrics {
	t.Helper()
	data, err := json.Marshal(settings)
	require.NoError(t, err)
	metrics, err := provider.NewMetrics(&config.Provider{Name: "p", Type: kind, Config: data})
	require.NoError(t, err)
	t.Cleanup(metrics.Close)
	return metrics
}

func TestDatadogIsAskedAsItsClientAsks(t *testing.T) {
	point := func(at, value float64) []*float64 { return []*float64{&at, &value} }
	series := datadogV1.MetricsQueryMetadata{Pointlist: [][]*float64{
		point(1_800_000_000_000, 1.5), {datadog.PtrFloat64(1_800_000_030_000), nil},
	}}
	s := newServer(t, datadogV1.MetricsQueryResponse{Status: datadog.PtrString("ok"),
		Series: []datadogV1.MetricsQueryMetadata{series}})

	const query = "avg:shop.errors{version:v2 AND env:prod}.as_rate()"
	answer, err := ours(t, config.Datadog, config.DatadogConfig{Address: s.URL, APIKeyData: "b25l",
		ApplicationKeyData: "dHdv"}).Query(t.Context(), query, hour)
	require.NoError(t, err)
	require.Equal(t, []float64{1.5}, answer.Values())
	require.Equal(t, 1, answer.NotNumbers)
	require.Equal(t, hour.From.Unix(), answer.Points[0].At.Unix())

	settings := datadog.NewConfiguration()
	settings.Servers = datadog.ServerConfigurations{{URL: s.URL}}
	ctx := context.WithValue(t.Context(), datadog.ContextAPIKeys, map[string]datadog.APIKey{
		"apiKeyAuth": {Key: "one"}, "appKeyAuth": {Key: "two"},
	})
	theirs, _, err := datadogV1.NewMetricsApi(datadog.NewAPIClient(settings)).
		QueryMetrics(ctx, hour.From.Unix(), hour.To.Unix(), query)
	require.NoError(t, err)
	require.Equal(t, series.Pointlist, theirs.Series[0].Pointlist)
	s.agree(t)
}

// keyFile is the key of a service account whose tokens come from the server.
func (s *server) keyFile(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	data, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "shop", "client_email": "a@b", "token_uri": s.URL + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})),
	})
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "key.json")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	return name
}

// google are the options of a client of Google that asks the server.
func (s *server) google() []option.ClientOption {
	return []option.ClientOption{option.WithEndpoint(s.URL), option.WithTokenSource(
		oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "t", TokenType: "Bearer"}))}
}

func TestGoogleCloudMonitoringIsAskedAsItsClientAsks(t *testing.T) {
	s := newServer(t, json.RawMessage(`{"status":"success","data":{"resultType":"matrix","result":[
		{"metric":{},"values":[[1800000000,"1.5"]]}]}}`))
	t.Setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_MONITORING", s.URL)
	answer, err := ours(t, config.Stackdriver, config.StackdriverConfig{ServiceAccountFile: s.keyFile(t)}).
		Query(t.Context(), "rate(a[1m])", hour)
	require.NoError(t, err)
	require.Equal(t, []float64{1.5}, answer.Values())

	service, err := monitoring.NewService(t.Context(), s.google()...)
	require.NoError(t, err)
	_, err = service.Projects.Location.Prometheus.Api.V1.QueryRange("projects/shop", "global",
		&monitoring.QueryRangeRequest{
			Query: "rate(a[1m])", Start: "1800000000.000", End: "1800003600.000", Step: "30s",
		}).Context(t.Context()).Do()
	require.NoError(t, err)
	s.asked[1].Query.Del("alt") // JSON, which is the default
	s.agree(t)
}

func TestGoogleCloudLoggingIsAskedAsItsClientAsks(t *testing.T) {
	s := newServer(t, logging.ListLogEntriesResponse{Entries: []*logging.LogEntry{
		{Timestamp: "2027-01-15T08:59:00.5Z"}, {Timestamp: "2027-01-15T08:58:00Z"}}})
	t.Setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING", s.URL)
	logs, is := ours(t, config.Stackdriver, config.StackdriverConfig{ServiceAccountFile: s.keyFile(t)}).(provider.Logs)
	require.True(t, is)
	found, err := logs.Count(t.Context(), "severity>=ERROR", hour, 10)
	require.NoError(t, err)
	require.Equal(t, provider.Entries{Count: 2, Newest: time.Date(2027, 1, 15, 8, 59, 0, 5e8, time.UTC)}, found)

	service, err := logging.NewService(t.Context(), s.google()...)
	require.NoError(t, err)
	_, err = service.Entries.List(&logging.ListLogEntriesRequest{
		ResourceNames: []string{"projects/shop"}, OrderBy: "timestamp desc", PageSize: 1000,
		Filter: "(\nseverity>=ERROR\n)\nAND timestamp >= \"2027-01-15T08:00:00Z\" " +
			"AND timestamp < \"2027-01-15T09:00:00Z\"",
	}).Fields("entries(timestamp)", "nextPageToken").Context(t.Context()).Do()
	require.NoError(t, err)
	s.agree(t)
}
