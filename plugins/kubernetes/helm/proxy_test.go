// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAProxyIsNotAskedForAddressesOfThisMachine(t *testing.T) {
	t.Parallel()
	asked := atomic.Int32{}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(r.URL.String()))
	}))
	t.Cleanup(proxy.Close)
	at, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	get := func(address string, allowed ...string) error {
		g, err := newGuard(Sources{AllowedAddresses: allowed}, nil)
		require.NoError(t, err)
		transport := g.transport(false)
		transport.proxyOf = func(*http.Request) (*url.URL, error) { return at, nil }
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		require.NoError(t, err)
		response, err := transport.RoundTrip(request)
		if err == nil {
			require.NoError(t, response.Body.Close())
		}
		return err
	}
	require.ErrorContains(t, get("http://127.0.0.1:9/x"), "127.0.0.1 is an address of this machine or of its network")
	require.ErrorContains(t, get("http://localhost:9/x"), "localhost (")
	require.Zero(t, asked.Load())
	require.NoError(t, get("http://127.0.0.1:9/x", "127.0.0.1:9"))
	require.NoError(t, get("http://only-the-proxy-knows.invalid/x"))
	require.EqualValues(t, 2, asked.Load())
}
