// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helper_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/helper"
)

// kubeconfigOf writes a kubeconfig with one context.
func kubeconfigOf(t *testing.T, name, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	content := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: %[1]s\n"+
		"contexts: [{name: %[1]s, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: %[2]q}}]\n", name,
		server)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// api is a Kubernetes API with a namespace and nothing else.
func api(t *testing.T) (url string, ready *atomic.Bool) {
	t.Helper()
	ready = &atomic.Bool{}
	ready.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/readyz":
			if !ready.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		case "/version":
			fmt.Fprint(w, `{"gitVersion": "v1.36.3"}`)
		case "/api/v1/namespaces/kube-system":
			fmt.Fprint(w, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"uid": "one"}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, ready
}

func TestAnExistingClusterIsWatchedAndAsked(t *testing.T) {
	t.Parallel()
	h := newHelper(t)
	url, ready := api(t)
	copied := filepath.Join(t.TempDir(), "kubeconfig")
	provider := h.Existing(helper.Context{File: kubeconfigOf(t, "kind-mine", url)}, copied)
	require.Equal(t, cluster.Description{Kind: cluster.Existing, Kubeconfig: copied}, provider.Describe())
	ctx, stop := context.WithCancel(t.Context())
	is, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- provider.Run(ctx, func(string, int64, int64) {}, func(detail string) { is <- detail })
	}()
	require.Equal(t, "context kind-mine, "+url+", Kubernetes v1.36.3", <-is)
	questions := provider.(cluster.Questions)
	identity, err := questions.Identity(t.Context())
	require.NoError(t, err)
	require.Equal(t, "one", identity)
	require.NoError(t, questions.Healthy(t.Context()))
	ready.Store(false)
	require.EqualError(t, questions.Healthy(t.Context()), url+"/readyz answers 503 Service Unavailable")

	_, _, err = h.Open(t.Context(),
		helper.Opening{Cluster: "local", Kubeconfig: copied, ApplicationID: "id", Name: "web"})
	require.ErrorContains(t, err, "the server could not find the requested resource")
	stop()
	require.NoError(t, <-ended)
	require.FileExists(t, copied)
	require.NoError(t, provider.Delete(t.Context()))
	require.NoFileExists(t, copied)
}

func TestAContextThatMayNotBeUsedIsWrongUsage(t *testing.T) {
	t.Parallel()
	h := newHelper(t)
	file := kubeconfigOf(t, "prod", "https://127.0.0.1:1")
	for says, c := range map[string]helper.Context{
		`context "prod" does not look like a cluster for development`: {File: file},
		`the kubeconfig has no context "dev"`:                         {File: file, Name: "dev"},
	} {
		var hinted *cluster.HintError
		require.ErrorAs(t, h.CheckContext(t.Context(), c), &hinted)
		require.ErrorContains(t, hinted, says)
		require.True(t, hinted.Usage)
		require.Contains(t, hinted.Hint, "--context")
		err := h.Existing(c, "copy").Run(t.Context(), func(string, int64, int64) {}, nil)
		require.ErrorAs(t, err, &hinted)
		require.ErrorContains(t, hinted, says)
	}
	require.NoError(t, h.CheckContext(t.Context(), helper.Context{File: file, Any: true}))
}
