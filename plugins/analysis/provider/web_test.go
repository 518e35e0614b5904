// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

func newWeb(t *testing.T) *Web {
	t.Helper()
	web, err := NewWeb(&config.Config{})
	require.NoError(t, err)
	t.Cleanup(web.Close)
	return web
}

func TestRequestsAndWhatIsExpectedOfTheirAnswers(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Host+" "+strings.Join(r.Header.Values("X-A"), ",")+"\n")
	})
	mux.HandleFunc("GET /moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/there", http.StatusFound)
	})
	mux.HandleFunc("GET /there", func(http.ResponseWriter, *http.Request) {})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	elsewhere := httptest.NewServer(http.RedirectHandler(s.URL+"/there", http.StatusFound))
	t.Cleanup(elsewhere.Close)
	for name, c := range map[string]struct {
		url    string
		http   config.HTTP
		reason string
	}{
		"a status of 2xx":     {s.URL + "/there", config.HTTP{}, ""},
		"another status":      {s.URL + "/absent", config.HTTP{}, "the status is 404, expected 200 to 299"},
		"the expected status": {s.URL + "/absent", config.HTTP{ExpectedCode: 404}, ""},
		"not the expected":    {s.URL + "/there", config.HTTP{ExpectedCode: 204}, "the status is 200, expected 204"},
		"headers and method": {s.URL + "/echo", config.HTTP{Method: "post", ExpectedResponse: "example.com 1,2",
			Headers: []config.Header{{Key: "x-a", Value: "1"}, {Key: "X-A", Value: "2"},
				{Key: "Host", Value: "example.com"}}}, ""},
		"another answer": {s.URL + "/echo", config.HTTP{Method: "POST", ExpectedResponse: "b",
			Headers: []config.Header{{Key: "Host", Value: "a"}}}, `the answer is "a", expected "b"`},
		"a redirect":                    {s.URL + "/moved", config.HTTP{}, ""},
		"a redirect that is expected":   {s.URL + "/moved", config.HTTP{ExpectedCode: 302}, ""},
		"a redirect to another service": {elsewhere.URL, config.HTTP{}, "the status is 302, expected 200 to 299"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdict, err := newWeb(t).Request(t.Context(), &c.http, c.url)
			require.NoError(t, err)
			require.Equal(t, c.reason, verdict.Reason)
			require.Equal(t, c.reason == "", verdict.Good)
		})
	}
}

func hostOf(s *httptest.Server) config.Host { return config.Host(s.Listener.Addr().String()) }

// A header with a secret goes to the hosts that the operator lists, and no error or verdict has its value.
func TestHeadersWithSecretsAreSentToTheirHostsAlone(t *testing.T) {
	t.Parallel()
	echo := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Header.Get("Authorization")) }
	listed, other := httptest.NewServer(http.HandlerFunc(echo)), httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(listed.Close)
	t.Cleanup(other.Close)
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("hunter2hunter2\n"), 0o600))
	web, err := NewWeb(&config.Config{HTTPHeaders: []config.HTTPHeader{
		{Name: "shop", Key: "Authorization", Prefix: "Bearer ", ValueFile: file,
			Hosts: []config.Host{hostOf(listed)}},
		{Name: "lost", Key: "X-Key", ValueFile: file + ".lost", Hosts: []config.Host{hostOf(listed)}},
	}})
	require.NoError(t, err)
	t.Cleanup(web.Close)
	wanted := &config.HTTP{HeadersFrom: []string{"shop"}, ExpectedResponse: "Bearer hunter2hunter2"}
	verdict, err := web.Request(t.Context(), wanted, listed.URL)
	require.NoError(t, err)
	require.True(t, verdict.Good, verdict.Reason)
	wanted.ExpectedResponse = "another"
	verdict, err = web.Request(t.Context(), wanted, listed.URL)
	require.NoError(t, err)
	require.Equal(t, `the answer is "******", expected "another"`, verdict.Reason)
	for name, address := range map[string]string{"shop": other.URL, "lost": listed.URL, "absent": listed.URL} {
		_, err = web.Request(t.Context(), &config.HTTP{HeadersFrom: []string{name}}, address)
		require.ErrorIs(t, err, ErrNotSent)
		require.ErrorContains(t, err, name)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

// A prefix is free text: what a log must not show begins where the prefix ends, with a blank before it or without.
func TestNoVerdictShowsTheSecretOfAHeaderWithoutItsPrefix(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "Bearer ", "key-", "Token token=", `OAuth realm="shop", token=`} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			value := strings.TrimPrefix(r.Header.Get("X-Key"), prefix)
			encoded, _ := json.Marshal(value)
			fmt.Fprintf(w, "refused: %s, %s", value, encoded)
		}))
		t.Cleanup(s.Close)
		web, err := NewWeb(&config.Config{HTTPHeaders: []config.HTTPHeader{{Name: "shop", Key: "X-Key", Prefix: prefix,
			ValueFile: file(t, `hunter2"hunter2`), Hosts: []config.Host{hostOf(s)}}}})
		require.NoError(t, err)
		t.Cleanup(web.Close)
		verdict, err := web.Request(t.Context(),
			&config.HTTP{HeadersFrom: []string{"shop"}, ExpectedResponse: "accepted"}, s.URL)
		require.NoError(t, err)
		require.Equal(t, `the answer is "refused: ******, \"******\"", expected "accepted"`, verdict.Reason, prefix)
	}
}

func TestNoAnswerIsAnErrorWithoutSecrets(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://a:hidden@127.0.0.1:1/p?token=hidden": "request http://127.0.0.1:1/p?…: ", "hidden": "is not usable",
	} {
		_, err := newWeb(t).Request(t.Context(), &config.HTTP{}, address)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hidden")
	}
	require.Equal(t, "http://127.0.0.1/p?…", Place("http://a:hidden@127.0.0.1/p?token=hidden"))
}
