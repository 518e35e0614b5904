// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheServerGreetsAndReportsItsVersion(t *testing.T) {
	t.Setenv("GREETING", "Good morning")
	t.Setenv("VERSION", "v7")
	server := httptest.NewServer(routes())
	defer server.Close()
	response, err := http.Get(server.URL + "/")
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), "Good morning (version v7, build local, pod ")
}

func TestSomeRequestsFailAndAllAreCounted(t *testing.T) {
	t.Setenv("ERROR_PERCENT", "50")
	server := httptest.NewServer(routes())
	defer server.Close()
	get := func(path string) (int, string) {
		response, err := http.Get(server.URL + path)
		require.NoError(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(body)
	}
	codes := map[int]int{}
	for range 10 {
		code, _ := get("/")
		codes[code]++
	}
	require.Equal(t, map[int]int{200: 5, 500: 5}, codes)
	_, metrics := get("/metrics")
	require.Contains(t, metrics, `http_requests_total{code="500"} 5`)
}
