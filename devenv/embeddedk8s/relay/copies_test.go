// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// endpoint answers every request with its name, and reports the requests.
func endpoint(t *testing.T, name string) (Dialer, <-chan string) {
	t.Helper()
	requests := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			body = []byte(err.Error())
		}
		requests <- r.Method + " " + r.Host + r.URL.RequestURI() + " " + r.Header.Get("X-A") + " " + string(body)
		_, _ = io.WriteString(w, name)
	}))
	t.Cleanup(server.Close)
	return func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}, requests
}

func TestACopyIsTheSameRequestAndItsAnswerIsDropped(t *testing.T) {
	t.Parallel()
	to, asked := endpoint(t, "original")
	other, copied := endpoint(t, "copy")
	copies := NewCopies()
	t.Cleanup(copies.Close)
	front := httptest.NewServer(HTTP{Failed: func(error) {}, Choose: func(r *http.Request) (Dialer, error) {
		copies.Add(r, other)
		return to, nil
	}}.Handler())
	t.Cleanup(front.Close)
	send := func(method, body string) string {
		r, err := http.NewRequestWithContext(t.Context(), method, front.URL+"/a?b=c", strings.NewReader(body))
		require.NoError(t, err)
		r.Host = "web.localhost"
		r.Header.Set("X-A", "1")
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return string(text)
	}
	require.Equal(t, "original", send(http.MethodGet, ""))
	require.Equal(t, "GET web.localhost/a?b=c 1 ", <-copied)
	require.Equal(t, "GET web.localhost/a?b=c 1 ", <-asked)
	require.Equal(t, "original", send(http.MethodPost, "hello"))
	require.Equal(t, "POST web.localhost/a?b=c 1 hello", <-copied)
	require.Equal(t, "POST web.localhost/a?b=c 1 hello", <-asked)

	large := strings.Repeat("x", maxCopied+1)
	require.Equal(t, "original", send(http.MethodPost, large))
	require.Equal(t, "POST web.localhost/a?b=c 1 "+large, <-asked)
	copies.Close()
	require.Equal(t, "original", send(http.MethodGet, ""), "without copies the request goes on")
	require.Empty(t, copied, "a body that is too large is not copied, and nothing is after the end")
}
