// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// pack makes the archive of a chart.
func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	archive := tar.NewWriter(zipped)
	for name, text := range files {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}))
		_, err := archive.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, zipped.Close())
	return data.Bytes()
}

// not parallel: where charts are kept is in the environment
func TestTheConfiguredRepositoriesGiveCharts(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	chart := pack(t, map[string]string{
		"web/Chart.yaml": "{apiVersion: v2, name: web, version: 1.0.0}",
		"web/templates/web.yaml": "apiVersion: apps/v1\nkind: Deployment\n" +
			"metadata: {name: {{ .Release.Name }}}\n" +
			"spec: {template: {spec: {containers: [{name: a, image: 'app:{{ .Values.tag }}'}]}}}\n",
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch user, password, _ := r.BasicAuth(); {
		case user+":"+password != "me:secret":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/index.yaml":
			_, _ = w.Write([]byte("entries:\n  web:\n  - version: 1.0.0\n    urls: [web-1.0.0.tgz]\n"))
		default:
			_, _ = w.Write(chart)
		}
	}))
	t.Cleanup(server.Close)
	h := wiretest.Start(t, sdk.ForDeployment(newPlugin(engine.New())), wiretest.Options{
		Name: "kubernetes",
		DeployTargets: []sdk.DeployTargetConfig{{Name: "local",
			Config: json.RawMessage(`{"kubeConfigPath": "/does/not/exist", "offlineCharts": true}`)}},
		Config: config.Plugin{ChartRepositories: []config.ChartRepository{{Name: "team", Address: server.URL,
			Username: "me", Password: "secret"}}},
	})
	app := source(t, "{input: {helmChart: {repository: team, name: web, version: 1.0.0}, helmOptions: {setValues: "+
		"{tag: v7}}}}", "")
	resp, err := h.Deployment.DetermineVersions(t.Context(),
		&deployment.DetermineVersionsRequest{Input: planInput(h, nil, app)})
	require.NoError(t, err)
	require.Len(t, resp.GetVersions(), 1)
	require.Equal(t, "v7", resp.GetVersions()[0].GetVersion())

	server.Close()
	app = source(t, "{input: {helmChart: {repository: team, name: web, version: 1.0.0}, helmOptions: {setValues: "+
		"{tag: v8}}}}", "")
	resp, err = h.Deployment.DetermineVersions(t.Context(),
		&deployment.DetermineVersionsRequest{Input: planInput(h, nil, app)})
	require.NoError(t, err, "the chart is kept")
	require.Equal(t, "v8", resp.GetVersions()[0].GetVersion())
}
