// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/api/model"
)

// restartingAPI stands in front of the real API. After restart it loses some requests, then it refuses some, as a
// server does that has not loaded its roles.
type restartingAPI struct {
	proxy            http.Handler
	breaks, refusals atomic.Int32
	// applying is called before an object of the name "first" is applied, once.
	applying atomic.Pointer[func()]
}

func (r *restartingAPI) restart() {
	r.breaks.Store(12) // client-go sends a lost request again up to ten times
	r.refusals.Store(5)
}

func (r *restartingAPI) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch {
	case r.breaks.Add(-1) >= 0:
		panic(http.ErrAbortHandler)
	case strings.Contains(req.URL.Path, "/configmaps") && r.refusals.Add(-1) >= 0:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w,
			`{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden",`+
				`"message":"forbidden: User admin cannot list %s"}`, req.URL.Path)
	default:
		if req.Method == http.MethodPatch && strings.HasSuffix(req.URL.Path, "/first") {
			if applying := r.applying.Swap(nil); applying != nil {
				(*applying)()
			}
		}
		r.proxy.ServeHTTP(w, req)
	}
}

// startRestartingAPI returns the API and a kubeconfig that leads to it.
func startRestartingAPI(t *testing.T) (*restartingAPI, string) {
	t.Helper()
	api := &restartingAPI{}
	path := inFront(t, func(proxy http.Handler) http.Handler {
		api.proxy = proxy
		return api
	})
	return api, path
}

// inFront puts a handler in front of the real API and returns a kubeconfig that leads to it.
func inFront(t *testing.T, handler func(proxy http.Handler) http.Handler) (kubeconfig string) {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", os.Getenv(kubeconfigEnv))
	require.NoError(t, err)
	transport, err := rest.TransportFor(cfg)
	require.NoError(t, err)
	real, err := url.Parse(cfg.Host)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(real)
	proxy.Transport = transport
	proxy.FlushInterval = -1
	server := httptest.NewServer(handler(proxy))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\n"+
		"users: [{name: u, user: {}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n",
		server.URL)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestStageAndRollbackOutlastARestartOfTheAPI(t *testing.T) {
	t.Parallel()
	api, path := startRestartingAPI(t)
	a := newAppAt(t, path)
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("c"),
		"web.yaml": deploymentYAML("web", "app:v1", 1, "")}}
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{"c.yaml": configMap("c"), "d.yaml": configMap("d"),
		"web.yaml": deploymentYAML("web", "app:v2", 1, "")}}
	a.succeeds("K8S_SYNC", "", one, nil)
	for _, step := range []struct{ stage, options string }{{"K8S_CANARY_ROLLOUT", ""},
		{"K8S_PRIMARY_ROLLOUT", `{"prune": true}`}, {"K8S_ROLLBACK", ""}} {
		api.restart()
		status, log := a.run(step.stage, step.options, two, one)
		require.Equal(t, model.StageStatus_STAGE_SUCCESS, status, log)
		require.Contains(t, log, "has just (re)started and refuses a request (403: forbidden: User")
		require.Contains(t, log, "accepts requests again")
	}
	a.get(configMaps, "c")
}

func TestAnAPIThatHasJustStartedMayServeAKindLater(t *testing.T) {
	t.Parallel()
	api, path := startRestartingAPI(t)
	a := newAppAt(t, path)
	w := newWidgets(a)
	late := func(kind string) map[string]string {
		return map[string]string{"first.yaml": configMap("first"), "widget.yaml": "apiVersion: " + w.group +
			"/v1\nkind: " + kind + "\nmetadata: {name: late}\n"}
	}
	define := func() {
		definition := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(w.definition()), &definition.Object); err != nil {
			t.Error(err)
		}
		_, err := a.live().Dynamic.Resource(crds).Create(t.Context(), definition, metav1.CreateOptions{})
		if err != nil {
			t.Error(err)
		}
	}
	api.applying.Store(&define)
	api.restart()
	a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: late("Widget")}, nil)
	log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa2", Files: late("Wodget")}, nil)
	require.Contains(t, log, "no matches for kind Wodget", "the wait for a kind has an end")
}

func TestAMissingPermissionIsNotTakenForARestart(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.makeNamespace()
	a.h = startPlugin(t,
		a.limitedUser(
			`[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "create", "patch"]}]`))
	log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"service.yaml": serviceYAML}},
		nil)
	require.Contains(t, log, "may not patch services")
	require.NotContains(t, log, "started")
	require.NotContains(t, log, "trying again")
}
