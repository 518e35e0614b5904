// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/servicefile"
)

func TestAnalysesReachTheServicesOfTheEnvironment(t *testing.T) {
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusInternalServerError)
	}))
	t.Cleanup(failing.Close)
	file := filepath.Join(t.TempDir(), "services")
	require.NoError(t, os.WriteFile(file, []byte("OTHER=a\nPIPEDECK_SERVICE_SHOP_URL="+failing.URL+"\n"), 0o600))
	t.Setenv(servicefile.Variable, file)
	h := start(t, newManualClock(), failing.URL, nil)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, stageAnalysis,
		`{"duration":"10m","https":[{"url":"{{ .Services.SHOP_URL }}/a","interval":"5m"}]}`))
	log := h.Piped.Log("analysis")
	require.Contains(t, log, "https[0]: bad: the status is 500, expected 200 to 299; failure 1, failureLimit 0; "+
		"query: GET "+failing.URL+"/a")

	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, stageAnalysis,
		`{"duration":"10m","https":[{"url":"{{ .Services.OTHER }}","interval":"5m"}]}`))
	require.Contains(t, h.Piped.Log("analysis"), `map has no entry for key "OTHER"`)

	values := []map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(h.Piped.StageMetadata("analysis")[string(seriesKey)]), &values))
	require.Equal(t, "https[0]", values[0]["name"])
}
