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
