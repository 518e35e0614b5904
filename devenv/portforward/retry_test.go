// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// breaks answers no request: it breaks the connection when it has received the request, as a program that crashes does.
func breaks(t *testing.T, before func(*http.Request)) (address string, received *atomic.Int64) {
	received = &atomic.Int64{}
	return backend(t, func(_ http.ResponseWriter, r *http.Request) {
		received.Add(1)
		before(r)
		panic(http.ErrAbortHandler)
	}), received
}

func TestARequestThatAPodHasBrokenGoesToAnotherPodWhoeverElseAsksMeanwhile(t *testing.T) {
	t.Parallel()
	p := newPlace(t, testLimits)
	p.service(httpPort)
	client, other := newClient(t), newClient(t)
	var url atomic.Value
	address, received := breaks(t, func(*http.Request) {
		// It takes the turn of the pod that answers, so that the turn is that of the broken one again.
		status, text := ask(t, other, http.MethodPost, url.Load().(string)+"/other", "x")
		require.Equal(t, http.StatusOK, status, text)
	})
	p.pod("a", address)
	p.pod("b", backend(t, says("b")))
	url.Store(p.url(""))
	for range 10 {
		before := received.Load()
		status, text := ask(t, client, http.MethodGet, url.Load().(string), "")
		require.Equal(t, http.StatusOK, status, text)
		require.Equal(t, "b GET /", text)
		require.LessOrEqual(t, received.Load(), before+1, "the pod that broke it does not get it twice")
	}
	require.NotZero(t, received.Load())
}

func TestARequestThatEveryPodHasBrokenIsRepeatedAFewTimesOnly(t *testing.T) {
	t.Parallel()
	p := newPlace(t, testLimits)
	p.service(httpPort)
	address, received := breaks(t, func(*http.Request) {})
	p.pod("a", address)
	status, text := ask(t, newClient(t), http.MethodGet, p.url(""), "")
	require.Equal(t, http.StatusServiceUnavailable, status, text)
	require.EqualValues(t, maxAttempts, received.Load())
	status, text = ask(t, newClient(t), http.MethodPost, p.url(""), "once")
	require.Equal(t, http.StatusBadGateway, status, text)
	require.EqualValues(t, maxAttempts+1, received.Load(), "what may change something is not repeated")
}

func TestWhatRuntimesReportOfAPodThatHasNotTakenAConnection(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		`failed to connect to localhost:8080 inside namespace "4f1c", IPv4: dial tcp4: connect: connection refused`,
		`failed to find sandbox "4f1c" in store: not found`,
		`network namespace for sandbox "4f1c" is closed`,
		`sandbox container is not running`,
	} {
		require.True(t, undelivered("error forwarding port 8080 to pod 4f1c, uid : "+words), words)
	}
	for _, words := range []string{
		"readfrom tcp4 127.0.0.1:40312->127.0.0.1:8080: read: connection reset by peer", "context canceled",
	} {
		require.False(t, undelivered("error forwarding port 8080 to pod 4f1c, uid : "+words), words)
	}
}
