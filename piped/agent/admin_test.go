// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/peeruser/otheruser"
)

func TestProfilesAreForCallersOnThisMachine(t *testing.T) {
	t.Parallel()
	handler := fromHere(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for caller, want := range map[string]int{
		"127.0.0.1:1": http.StatusTeapot, "[::1]:1": http.StatusTeapot, "[::ffff:127.0.0.1]:1": http.StatusTeapot,
		"10.0.0.1:1": http.StatusForbidden, "[2001:db8::1]:1": http.StatusForbidden, "no address": http.StatusForbidden,
	} {
		request := httptest.NewRequest(http.MethodGet, "/debug/pprof/", nil)
		request.RemoteAddr = caller
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		require.Equal(t, want, recorder.Code, caller)
	}
}

func TestTheAdminAddressCanBeChosen(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{"": "127.0.0.1", "localhost": "127.0.0.1"} {
		a, err := listenAdmin(AdminOptions{Host: host}, "v", func() healthAnswer { return healthAnswer{} },
			http.NotFoundHandler())
		require.NoError(t, err)
		t.Cleanup(func() { a.listener.Close() })
		require.Contains(t, a.listener.Addr().String(), want+":")
	}
	_, err := listenAdmin(AdminOptions{Host: "no.such.host.invalid"}, "v", nil, nil)
	require.ErrorContains(t, err, "see --admin-host and --admin-port")
}

func TestMetricsAndProfilesAreForTheUserOfPiped(t *testing.T) {
	t.Parallel()
	a, err := listenAdmin(AdminOptions{}, "v", func() healthAnswer { return healthAnswer{Status: "ok"} },
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	address := a.listener.Addr().String()
	for path, want := range map[string]int{"/metrics": http.StatusTeapot, "/debug/pprof/": http.StatusOK,
		"/livez": http.StatusOK} {
		answer, err := http.Get("http://" + address + path)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode, path)
	}
	if runtime.GOOS != "linux" {
		t.Skip("this system does not report the user of a connection")
	}
	for path, want := range map[string]string{
		"/metrics": "403 Forbidden", "/debug/pprof/": "403 Forbidden",
		"/debug/pprof/profile?seconds=1": "403 Forbidden",
		"/debug/pprof/trace":             "403 Forbidden", "/debug/pprof/heap": "403 Forbidden", "/livez": "200 OK",
		"/healthz": "200 OK", "/version": "200 OK",
	} {
		answer := otheruser.Dial(t, address, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")()
		require.Contains(t, answer, "HTTP/1.1 "+want, path)
	}
}
