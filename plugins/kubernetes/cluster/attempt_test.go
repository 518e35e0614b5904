// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// Requests of discovery have no context. A balancer that takes them and never answers must not hold a stage for ever.
func TestARequestWithoutContextEndsWhenTheServerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	require.NoError(t, err)
	transport := &restarts{next: server.Client().Transport, base: base, limit: 50 * time.Millisecond}
	client := &http.Client{Transport: transport}
	d, err := discovery.NewDiscoveryClientForConfigAndClient(&rest.Config{Host: server.URL}, client)
	require.NoError(t, err)
	_, err = d.ServerGroups()
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// The answer may take its time: only one without an end is cut.
func TestTheAnswerOfARequestWithoutContextIsReadWhole(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind": "APIVersions", "versions": ["v1"]}`))
	}))
	t.Cleanup(server.Close)
	client, err := NewClient(&rest.Config{Host: server.URL}, "default")
	require.NoError(t, err)
	groups, err := client.Discovery.ServerGroups()
	require.NoError(t, err)
	require.NotEmpty(t, groups.Groups)
}
