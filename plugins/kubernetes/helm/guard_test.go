// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/system/filetest"
)

// counting is a server of this machine that no repository may have asked.
func counting(t *testing.T) (server *httptest.Server, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(server.Close)
	return server, asked
}

// none allows nothing; it is not nil, which the tests' own helper replaces.
var none = []string{}

func TestAddressesOfThisMachineAreNotAskedForWhatARepositoryNames(t *testing.T) {
	t.Parallel()
	server, asked := counting(t)
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	host := strings.TrimPrefix(server.URL, "http://")
	redirecting := httptest.NewServer(http.RedirectHandler(server.URL, http.StatusFound))
	t.Cleanup(redirecting.Close)
	indexed := serve(t, "", false, "1.0.0")
	indexed.files["/charts/index.yaml"] = []byte("entries:\n  web:\n  - version: 1.0.0\n    urls: ['" + server.URL +
		"/web.tgz']\n")
	configured := helm.Sources{AllowedAddresses: none, Repositories: []helm.Repository{
		{Name: "team", Address: indexed.URL + "/charts"}, {Name: "moved", Address: redirecting.URL},
	}}
	withValues := func(name string) helm.Request {
		req := request(t, application(t))
		req.Options.ValueFiles = []string{name}
		return req
	}
	withFile := func(name, text string) helm.Request {
		root := application(t)
		filetest.Write(t, root, map[string]string{name: text})
		return request(t, root)
	}
	for name, req := range map[string]helm.Request{
		"a repository by its IP address": remoteRequest(t, server.URL, "1.0.0"),
		"a repository by its name":       remoteRequest(t, "http://localhost"+port, "1.0.0"),
		"a repository behind TLS":        remoteRequest(t, "https://"+host, "1.0.0"),
		"IPv6 that means IPv4":           remoteRequest(t, "https://[::ffff:127.0.0.1]"+port, "1.0.0"),
		"the address of every interface": remoteRequest(t, "https://0.0.0.0"+port, "1.0.0"),
		"a registry":                     remoteRequest(t, "oci://"+host+"/team", "1.0.0"),
		"a file with values":             withValues(server.URL + "/values.yaml"),
		"a redirect of a repository":     remoteRequest(t, "moved", "1.0.0"),
		"a file that an index names":     remoteRequest(t, "team", "1.0.0"),
		"a schema": withFile("charts/web/values.schema.json",
			`{"$ref": "`+server.URL+`/schema.json"}`),
		"a dependency": withFile("charts/web/Chart.yaml",
			"{apiVersion: v2, name: web, version: 1.0.0, dependencies: [{name: other, version: 1.0.0, repository: '"+
				server.URL+"'}]}"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := charts(t, configured).Render(t.Context(), req)
			require.ErrorContains(t, err, "is an address of this machine or of its network")
			require.ErrorContains(t, err, "allowedChartAddresses")
			require.Zero(t, asked.Load())
		})
	}
	for _, address := range []string{"https://169.254.169.254/latest", "https://[fe80::1]/x", "https://10.1.2.3",
		"https://192.168.0.1", "https://[fd00:ec2::254]", "https://100.100.100.200", "https://[64:ff9b::a9fe:a9fe]"} {
		_, err := charts(t, configured).Render(t.Context(), remoteRequest(t, address, "1.0.0"))
		require.ErrorContains(t, err, "is an address of this machine or of its network", address)
	}
}

func TestAnOperatorAllowsAddresses(t *testing.T) {
	t.Parallel()
	server := serve(t, "", false, "1.0.0")
	host := strings.TrimPrefix(server.URL, "http://")
	req := remoteRequest(t, server.URL+"/charts", "1.0.0")
	for _, allowed := range []string{"127.0.0.1", host, "127.0.0.0/8", "::ffff:127.0.0.1"} {
		_, err := charts(t, helm.Sources{AllowedAddresses: []string{allowed}}).Render(t.Context(), req)
		require.NoError(t, err, allowed)
	}
	_, err := charts(t, helm.Sources{AllowedAddresses: []string{"10.0.0.0/8", "localhost",
		"127.0.0.1:1"}}).Render(t.Context(), req)
	require.ErrorContains(t, err, `add "`+host+`" to allowedChartAddresses`)

	cached := helm.Sources{AllowedAddresses: none, CacheDir: t.TempDir()}
	ofTarget := req
	ofTarget.AllowedAddresses = []string{host}
	_, err = charts(t, cached).Render(t.Context(), ofTarget)
	require.NoError(t, err, "a deploy target allows it, too")
	_, err = charts(t, cached).Render(t.Context(), req)
	require.Error(t, err, "what one target may get is not kept for others")

	require.NoError(t, helm.CheckAllowed("charts.internal:8443"))
	for _, wrong := range []string{"", "https://charts.internal", "a b", "10.0.0.0/99"} {
		require.Error(t, helm.CheckAllowed(wrong), wrong)
	}
}
