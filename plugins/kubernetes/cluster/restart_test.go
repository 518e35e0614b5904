// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// restarting is an API whose first answers are those of a server that has just started.
type restarting struct {
	// breaks is how many requests get no answer, refusals how many after them are refused; starting how many times
	// /readyz says that it is not ready.
	breaks, refusals, starting atomic.Int32
	status                     int
	message                    string
	requests                   atomic.Int32
}

func (r *restarting) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if req.URL.Path == "/readyz" {
		if r.starting.Add(-1) >= 0 {
			http.Error(w, "[-]poststarthook/rbac/bootstrap-roles failed", http.StatusInternalServerError)
		}
		return
	}
	r.requests.Add(1)
	switch {
	case r.breaks.Add(-1) >= 0:
		panic(http.ErrAbortHandler)
	case r.refusals.Add(-1) >= 0:
		w.WriteHeader(r.status)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":%q}`,
			r.status, map[int]string{401: "Unauthorized", 403: "Forbidden", 500: "InternalError",
				503: "ServiceUnavailable"}[r.status], r.message)
	case req.URL.Path == "/api":
		fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case req.URL.Path == "/apis":
		fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
	case req.URL.Path == "/api/v1":
		fmt.Fprint(w,
			`{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"configmaps","kind":"ConfigMap",`+
				`"namespaced":true,"verbs":["list"]}]}`)
	case req.Method == http.MethodPost:
		_, _ = io.Copy(w, req.Body) // so that a body that is not sent again is seen
	default:
		fmt.Fprint(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[]}`)
	}
}

// use returns a client whose requests under the context outlast restarts.
func (r *restarting) use(t *testing.T) (context.Context, *cluster.Client, *lines) {
	t.Helper()
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return outlast(t, server.URL)
}

func outlast(t *testing.T, address string) (context.Context, *cluster.Client, *lines) {
	t.Helper()
	path, log := filepath.Join(t.TempDir(), "kubeconfig"), &lines{}
	writeKubeconfig(t, path, kubeconfig(address))
	pool := cluster.NewPool()
	t.Cleanup(pool.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	ctx = cluster.OutlastRestarts(ctx, log)
	client, err := pool.Connect(ctx, config.DeployTarget{KubeConfigPath: path}, log)
	require.NoError(t, err)
	return ctx, client, log
}

func list(ctx context.Context, client *cluster.Client) error {
	_, err := client.Resource(configMaps, "team").List(ctx, metav1.ListOptions{})
	return err
}

const cannotList = `configmaps is forbidden: User "admin" cannot list resource "configmaps" in API group "" in the ` +
	`namespace "team"`

func TestWhatAServerRefusesRightAfterItsStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status  int
		message string
	}{
		"roles that are not loaded":     {403, cannotList},
		"tokens that are not known":     {401, "Unauthorized"},
		"admission that is not ready":   {403, `configmaps "x" is forbidden: not yet ready to handle request`},
		"a store that is not there":     {500, "rpc error: no leader"},
		"an API that is not served yet": {503, "the server is currently unable to handle the request"},
	}
	for name, tt := range tests {
		t.Run(name+", once it was away", func(t *testing.T) {
			t.Parallel()
			r := &restarting{status: tt.status, message: tt.message}
			ctx, client, log := r.use(t)
			r.breaks.Store(100)
			require.Error(t, list(t.Context(), client), "the connection breaks")
			r.breaks.Store(0)
			r.refusals.Store(3)
			require.NoError(t, list(ctx, client))
			text := strings.Join(log.all(), "\n")
			require.Contains(t, text, fmt.Sprintf("has just (re)started and refuses a request (%d: %s); trying "+
				"again, at most 2m0s", tt.status, tt.message))
			require.Contains(t, text, "accepts requests again after")
			require.Len(t, log.all(), 2, "a line for the beginning and a line for the end")
		})
		t.Run(name+", while it says that it is starting", func(t *testing.T) {
			t.Parallel()
			r := &restarting{status: tt.status, message: tt.message}
			ctx, client, log := r.use(t)
			r.starting.Store(1)
			r.refusals.Store(3)
			object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": map[string]any{"name": "made"}}}
			_, err := client.Dynamic.Resource(configMaps).Namespace("team").Create(ctx, object, metav1.CreateOptions{})
			require.NoError(t, err)
			require.Contains(t, strings.Join(log.all(), "\n"), "has just (re)started")
		})
	}
}

func TestAnObjectThatDoesNotFitItsSchemaIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		"failed to create typed patch object (team/made; v1, Kind=ConfigMap): .dat: field not declared in schema",
		"failed to convert new object (team/made; /v1, Kind=Secret) to proper version: unable to convert " +
			"unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data at input byte 6",
	} {
		r := &restarting{status: 500, message: message}
		ctx, client, log := r.use(t)
		r.breaks.Store(100)
		require.Error(t, list(t.Context(), client), "the connection breaks")
		r.breaks.Store(0)
		r.refusals.Store(1000)
		require.ErrorContains(t, list(ctx, client), message)
		require.Empty(t, log.all(), "the server is not to blame")
	}
}

func TestDiscoveryOutlastsARestartToo(t *testing.T) {
	t.Parallel()
	r := &restarting{status: 403, message: `forbidden: User "admin" cannot get path "/api"`}
	_, client, _ := r.use(t)
	r.starting.Store(1)
	r.refusals.Store(3)
	mapping, err := client.Mapper.RESTMapping(schema.GroupKind{Kind: "ConfigMap"}, "v1")
	require.NoError(t, err, "client-go takes a forbidden discovery for a cluster without kinds")
	require.Equal(t, configMaps, mapping.Resource)
}

func TestARequestWaitsForAServerThatIsAway(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &restarting{status: 403, message: cannotList}
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	ctx, client, log := outlast(t, "http://"+listener.Addr().String())
	require.NoError(t, server.Close())
	ended := make(chan error, 1)
	go func() { ended <- list(ctx, client) }()
	log.waitFor(t, "does not answer")
	r.refusals.Store(2)
	listener, err = net.Listen("tcp", listener.Addr().String())
	require.NoError(t, err)
	server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	require.NoError(t, <-ended)
	require.Contains(t, strings.Join(log.all(), "\n"), "accepts requests again")
}

func TestARefusalByAServerThatRunsComesBackAtOnce(t *testing.T) {
	t.Parallel()
	r := &restarting{status: 403, message: cannotList}
	ctx, client, log := r.use(t)
	r.refusals.Store(1000)
	require.True(t, apierrors.IsForbidden(list(ctx, client)))
	require.LessOrEqual(t, r.requests.Load(), int32(2))
	require.Empty(t, log.all())
}

func TestAQuotaIsNotTakenForARestart(t *testing.T) {
	t.Parallel()
	r := &restarting{status: 403, message: `pods "x" is forbidden: exceeded quota: small`}
	ctx, client, log := r.use(t)
	r.starting.Store(1000)
	r.refusals.Store(1000)
	err := list(ctx, client)
	require.ErrorContains(t, err, "exceeded quota")
	require.Equal(t, int32(1), r.requests.Load())
	require.Empty(t, log.all())
}

func TestRequestsOfOthersFailFast(t *testing.T) {
	t.Parallel()
	r := &restarting{status: 403, message: cannotList}
	_, client, _ := r.use(t)
	r.starting.Store(1000)
	r.refusals.Store(1)
	require.True(t, apierrors.IsForbidden(list(t.Context(), client)),
		"a preview does not wait for a server that restarts")
}

func TestACancelEndsTheWaitForARestart(t *testing.T) {
	t.Parallel()
	r := &restarting{status: 403, message: cannotList}
	ctx, client, log := r.use(t)
	ctx, cancel := context.WithCancel(ctx)
	r.starting.Store(1000)
	r.refusals.Store(1000)
	ended := make(chan error, 1)
	go func() { ended <- list(ctx, client) }()
	log.waitFor(t, "has just (re)started")
	cancel()
	require.Error(t, <-ended)
}
