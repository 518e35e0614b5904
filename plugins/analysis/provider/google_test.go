// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

// googleServer answers as Google's token server, Monitoring and Logging do. The bodies of requests are in asked.
type googleServer struct {
	*httptest.Server
	tokens atomic.Int64

	mu     sync.Mutex
	asked  []map[string]any
	answer func(path string, body map[string]any) (code int, answer string)
}

func newGoogle(t *testing.T, answer func(string, map[string]any) (int, string)) *googleServer {
	t.Helper()
	s := &googleServer{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(s.Close)
	return s
}

func (s *googleServer) handle(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/token" {
		if r.FormValue("grant_type") == "" || r.FormValue("assertion") == "" {
			http.Error(w, "no assertion", http.StatusBadRequest)
			return
		}
		_, _ = fmt.Fprintf(w, `{"access_token":"secret-%d","token_type":"Bearer","expires_in":3600}`, s.tokens.Add(1))
		return
	}
	want := fmt.Sprintf("Bearer secret-%d", s.tokens.Load())
	if r.Method != http.MethodPost || r.Header.Get("Authorization") != want {
		http.Error(w, `{"error":{"code":401,"message":"who are you","status":"UNAUTHENTICATED"}}`,
			http.StatusUnauthorized)
		return
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, body)
	code, answer := s.answer(r.URL.String(), body)
	w.WriteHeader(code)
	_, _ = w.Write([]byte(answer))
}

// serviceAccount is a key file whose tokens come from the server.
func (s *googleServer) serviceAccount(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	data, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "shop-1", "private_key_id": "k", "client_email": "a@shop-1.example",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})),
		"token_uri":   s.URL + "/token",
	})
	require.NoError(t, err)
	return file(t, string(data))
}

func (s *googleServer) provider(t *testing.T, c config.StackdriverConfig) *stackdriver {
	t.Helper()
	g, err := newStackdriver(c)
	require.NoError(t, err)
	t.Cleanup(g.Close)
	for _, at := range []*string{&g.monitoring.Host, &g.logging.Host} {
		*at = s.Listener.Addr().String()
	}
	g.monitoring.Scheme, g.logging.Scheme = "http", "http"
	return g
}

func TestGoogleCloudMonitoringIsAskedByPromQL(t *testing.T) {
	t.Parallel()
	s := newGoogle(t, func(path string, _ map[string]any) (int, string) {
		if path != "/v1/projects/shop-1/location/global/prometheus/api/v1/query_range" {
			return 404, path
		}
		return 200, matrix
	})
	g := s.provider(t, config.StackdriverConfig{ServiceAccountFile: s.serviceAccount(t)})
	for range 2 {
		answer, err := g.Query(t.Context(), "rate(a[1m])", lastHour)
		require.NoError(t, err)
		require.Len(t, answer.Points, 2)
	}
	require.EqualValues(t, 1, s.tokens.Load(), "a token is used as long as it is valid")
	require.Equal(t, map[string]any{
		"query": "rate(a[1m])", "start": "1800000000.000", "end": "1800003600.000", "step": "90s",
	}, s.asked[0])
}

func TestARenewedKeyOfAServiceAccountIsUsed(t *testing.T) {
	t.Parallel()
	s := newGoogle(t, func(string, map[string]any) (int, string) { return 200, matrix })
	key := s.serviceAccount(t)
	g := s.provider(t, config.StackdriverConfig{ServiceAccountFile: key, Project: "other"})
	_, err := g.Query(t.Context(), "a", lastHour)
	require.NoError(t, err)
	renewed, err := os.ReadFile(s.serviceAccount(t))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(key, renewed, 0o600))
	_, err = g.Query(t.Context(), "a", lastHour)
	require.NoError(t, err)
	require.EqualValues(t, 2, s.tokens.Load())
}

func TestGoogleCloudLoggingCountsEntries(t *testing.T) {
	t.Parallel()
	page := `{"entries":[{"timestamp":"2027-01-15T08:59:00Z"},{"timestamp":"2027-01-15T08:58:00.5Z"}]`
	s := newGoogle(t, func(path string, body map[string]any) (int, string) {
		switch body["pageToken"] {
		case nil: // Logging may search for longer than one answer may take
			return 200, `{"nextPageToken":"1"}`
		case "1":
			return 200, page + `,"nextPageToken":"2"}`
		}
		return 200, page + `}`
	})
	g := s.provider(t, config.StackdriverConfig{ServiceAccountFile: s.serviceAccount(t)})
	found, err := g.Count(t.Context(), "severity>=ERROR -- ours", lastHour, 10)
	require.NoError(t, err)
	require.Equal(t, 4, found.Count)
	require.False(t, found.More)
	require.Equal(t, "2027-01-15T08:59:00Z", found.Newest.Format("2006-01-02T15:04:05Z07:00"))
	require.Equal(t, map[string]any{
		"resourceNames": []any{"projects/shop-1"}, "orderBy": "timestamp desc", "pageSize": 1000.0, "pageToken": "2",
		"filter": "(\nseverity>=ERROR -- ours\n)\nAND timestamp >= \"2027-01-15T08:00:00Z\" " +
			"AND timestamp < \"2027-01-15T09:00:00Z\"",
	}, s.asked[2])

	found, err = g.Count(t.Context(), "a", lastHour, 1)
	require.NoError(t, err)
	require.Equal(t, 2, found.Count, "nothing is asked beyond what is enough")
	require.True(t, found.More)

	s.mu.Lock()
	s.answer = func(string, map[string]any) (int, string) { return 200, `{"nextPageToken":"again"}` }
	s.mu.Unlock()
	_, err = g.Count(t.Context(), "a", lastHour, 1)
	require.ErrorContains(t, err, "did not give all entries in 30 answers: make the query narrower")
}

func TestWhatGoogleCloudRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code       int
		body, want string
	}{
		"a project": {403, `{"error":{"code":403,"message":"no access","status":"PERMISSION_DENIED"}}`,
			"refused the query: PERMISSION_DENIED: no access"},
		"a query": {400, `{"status":"error","errorType":"bad_data","error":"parse error"}`,
			"refused the query: bad_data: parse error"},
		"everything":      {502, "bad gateway", "the answer has the status 502 Bad Gateway: bad gateway"},
		"another service": {200, "<html>", "did not answer as"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newGoogle(t, func(string, map[string]any) (int, string) { return c.code, c.body })
			g := s.provider(t, config.StackdriverConfig{ServiceAccountFile: s.serviceAccount(t)})
			_, err := g.Query(t.Context(), "a", lastHour)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "secret")
			_, err = g.Count(t.Context(), "a", lastHour, 1)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestKeysThatGoogleDoesNotTake(t *testing.T) {
	t.Parallel()
	s := newGoogle(t, nil)
	key := s.serviceAccount(t)
	data, err := os.ReadFile(key)
	require.NoError(t, err)
	var account map[string]string
	require.NoError(t, json.Unmarshal(data, &account))
	account["token_uri"] = s.URL + "/absent"
	elsewhere, err := json.Marshal(account)
	require.NoError(t, err)
	for content, want := range map[string]string{
		`{"type":"external_account","hidden":"hidden"}`: "is not the key file of a service account",
		"hidden":          "is not the key file of a service account",
		string(elsewhere): "get access to Google Cloud: the token server answered with the status 401",
	} {
		g := s.provider(t, config.StackdriverConfig{ServiceAccountFile: file(t, content)})
		_, err := g.Query(t.Context(), "a", lastHour)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hidden")
	}
	g := s.provider(t, config.StackdriverConfig{ServiceAccountFile: "/absent"})
	_, err = g.Query(t.Context(), "a", lastHour)
	require.ErrorContains(t, err, "config.serviceAccountFile: open /absent")
}

func TestAQueryDoesNotWaitForATokenForEver(t *testing.T) {
	t.Parallel()
	asked, done := make(chan struct{}, 1), make(chan struct{})
	token := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-done
	}))
	t.Cleanup(token.Close)
	t.Cleanup(func() { close(done) })
	s := newGoogle(t, nil)
	s.URL = token.URL // of the key file
	g := s.provider(t, config.StackdriverConfig{ServiceAccountFile: s.serviceAccount(t)})
	first, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := g.Query(first, "a", lastHour)
		ended <- err
	}()
	<-asked
	second, stop := context.WithCancel(t.Context())
	stop()
	_, err := g.Query(second, "a", lastHour)
	require.Error(t, err, "the second query waits for the token of the first")
	cancel()
	require.ErrorContains(t, <-ended, "get access to Google Cloud")
}
