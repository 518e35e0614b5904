// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProfilesAreForCallersOnThisMachine(t *testing.T) {
	t.Parallel()
	handler := fromHere(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for caller, want := range map[string]int{
		"127.0.0.1:1": http.StatusTeapot, "[::1]:1": http.StatusTeapot, "[::ffff:127.0.0.1]:1": http.StatusTeapot,
		"10.0.0.1:1": http.StatusForbidden, "[2001:db8::1]:1": http.StatusForbidden, "nobody": http.StatusForbidden,
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
		a, err := listenAdmin(host, 0, "v", func() healthAnswer { return healthAnswer{} }, http.NotFoundHandler())
		require.NoError(t, err)
		t.Cleanup(func() { a.listener.Close() })
		require.Contains(t, a.listener.Addr().String(), want+":")
	}
	_, err := listenAdmin("no.such.host.invalid", 0, "v", nil, nil)
	require.ErrorContains(t, err, "see --admin-host and --admin-port")
}
