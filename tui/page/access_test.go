// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/page"
)

// ask sends a request and returns the answer with its body. header are pairs.
func ask(t *testing.T, client *http.Client, method, address, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := client.Do(r)
	require.NoError(t, err)
	content, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer, string(content)
}

func TestWithoutASessionThereIsNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	for _, path := range []string{"app.js", "style.css", "index.html", "events", "log", "session", "x", "../server.go",
		"events?cursor=1", "log?deployment=dep-c&stage=build&from=0&to=9"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			answer, body := ask(t, http.DefaultClient, method, s.web.URL+"/"+path, "", "Cookie", "pipedeck_1=x")
			require.Equal(t, http.StatusUnauthorized, answer.StatusCode, path)
			require.Empty(t, body, path)
		}
	}
	answer, shell := ask(t, http.DefaultClient, http.MethodGet, s.web.URL+"/", "")
	require.Equal(t, http.StatusOK, answer.StatusCode)
	for _, secret := range []string{"demo", "shop", "checkout", s.server.Token()} {
		require.NotContains(t, shell, secret)
	}
	require.Contains(t, answer.Header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'sha256-")
}

func TestATokenOpensASession(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	session := s.web.URL + "/session"
	answer, _ := ask(t, http.DefaultClient, http.MethodPost, session, s.server.Token())
	require.Equal(t, http.StatusNoContent, answer.StatusCode)
	require.Len(t, answer.Cookies(), 1)
	cookie := answer.Cookies()[0]
	require.True(t, cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	require.NotContains(t, cookie.Value, s.server.Token())

	for name, wrong := range map[string]string{"empty": "", "another": "x", "too short": s.server.Token()[1:],
		"with more": s.server.Token() + "x"} {
		answer, body := ask(t, http.DefaultClient, http.MethodPost, session, wrong)
		require.Equal(t, http.StatusForbidden, answer.StatusCode, name)
		require.Empty(t, body+answer.Header.Get("Set-Cookie"), name)
	}
	answer, _ = ask(t, http.DefaultClient, http.MethodPost, session, strings.Repeat("x", 10_000))
	require.Equal(t, http.StatusRequestEntityTooLarge, answer.StatusCode)
	answer, _ = ask(t, http.DefaultClient, http.MethodPost, session, s.server.Token(), "Origin", "http://evil.example")
	require.Equal(t, http.StatusForbidden, answer.StatusCode)
	answer, _ = ask(t, http.DefaultClient, http.MethodPost, session, s.server.Token(), "Sec-Fetch-Site", "same-site")
	require.Equal(t, http.StatusForbidden, answer.StatusCode)
	answer, _ = ask(t, http.DefaultClient, http.MethodPost, session, s.server.Token(), "Origin", s.web.URL)
	require.Equal(t, http.StatusNoContent, answer.StatusCode)

	browser := s.browser()
	answer, _ = ask(t, browser, http.MethodHead, session, "")
	require.Equal(t, http.StatusNoContent, answer.StatusCode)
	answer, body := ask(t, browser, http.MethodGet, s.web.URL+"/", "", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", answer.Header.Get("Content-Encoding"))
	require.NotEmpty(t, body)
	require.Equal(t, "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", answer.Header.Get("Content-Security-Policy"))
	require.Equal(t, "no-referrer", answer.Header.Get("Referrer-Policy"))
	require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"))
	again, _ := ask(t, browser, http.MethodGet, s.web.URL+"/", "", "If-None-Match", answer.Header.Get("Etag"))
	require.Equal(t, http.StatusNotModified, again.StatusCode)
}

func TestAHostNameOfOthersIsRefused(t *testing.T) {
	t.Parallel()
	s := serveWith(t, page.Options{Names: []string{"Laptop"}})
	for host, want := range map[string]int{
		"evil.example": http.StatusMisdirectedRequest, "evil.example:80": http.StatusMisdirectedRequest,
		"localhost.evil.example": http.StatusMisdirectedRequest, "192.168.0.9:80": http.StatusMisdirectedRequest,
		"localhost": http.StatusOK, "localhost:1": http.StatusOK, "127.0.0.1:1": http.StatusOK,
		"[::1]:80": http.StatusOK, "laptop:80": http.StatusOK,
	} {
		answer, _ := ask(t, http.DefaultClient, http.MethodGet, s.web.URL+"/", "", "Host", host)
		require.Equal(t, want, answer.StatusCode, host)
	}
	public := serveWith(t, page.Options{Public: true})
	for host, want := range map[string]int{"evil.example": http.StatusMisdirectedRequest, "192.168.0.9:80": 200} {
		answer, _ := ask(t, http.DefaultClient, http.MethodGet, public.web.URL+"/", "", "Host", host)
		require.Equal(t, want, answer.StatusCode, host)
	}
}

func TestAWatcherCanChangeNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	browser := s.browser()
	paths := []string{"", "events", "log", "session", "app.js"}
	service := reflect.TypeFor[deckv1.DeckServiceClient]()
	for i := range service.NumMethod() {
		name := service.Method(i).Name
		paths = append(paths, name, "pipedeck.deck.v1.DeckService/"+name)
	}
	for _, path := range paths {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
			http.MethodOptions, http.MethodConnect, http.MethodTrace, "PROPFIND", "X"} {
			if path == "session" && method == http.MethodPost {
				continue
			}
			answer, body := ask(t, browser, method, s.web.URL+"/"+path, "")
			require.Contains(t, []int{http.StatusMethodNotAllowed, http.StatusBadRequest}, answer.StatusCode,
				"%s /%s", method, path)
			require.NotContains(t, body, "checkout")
		}
		if strings.Contains(path, "/") || path != "" && path[0] >= 'A' && path[0] <= 'Z' {
			answer, _ := ask(t, browser, http.MethodGet, s.web.URL+"/"+path, "")
			require.Equal(t, http.StatusNotFound, answer.StatusCode, path)
		}
	}
	require.Empty(t, s.deck.Calls, "no call of the deck API that changes something")
	reading := reflect.TypeFor[page.Deck]()
	for i := range reading.NumMethod() {
		require.Contains(t, []string{"Watch", "WatchStageLog", "GetStageRun"}, reading.Method(i).Name)
	}
}
