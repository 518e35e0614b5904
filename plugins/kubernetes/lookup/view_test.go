// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package lookup_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/lookup"
)

// api answers discovery, and these paths.
type api struct {
	mu      sync.Mutex
	answers map[string]string
	methods []string
}

func (a *api) set(path, answer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[path] = answer
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.methods = append(a.methods, r.Method)
	w.Header().Set("Content-Type", "application/json")
	discovery := map[string]string{
		"/version": `{"gitVersion":"v1.31.2"}`,
		"/api":     `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":    `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[` +
			`{"name":"secrets","kind":"Secret","namespaced":true,"verbs":["get","list"]},` +
			`{"name":"nodes","kind":"Node","namespaced":false,"verbs":["get","list"]}]}`,
	}
	answer, known := discovery[r.URL.Path]
	if !known {
		answer, known = a.answers[r.URL.Path]
	}
	switch {
	case !known:
		w.WriteHeader(http.StatusNotFound)
	case strings.HasPrefix(answer, "!"):
		status, message, _ := strings.Cut(answer[1:], " ")
		code := map[string]int{"403": 403, "500": 500}[status]
		w.WriteHeader(code)
		answer = fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"code":%d,`+
			`"reason":%q}`, message, code, map[int]string{403: "Forbidden", 500: "InternalError"}[code])
	}
	_, _ = w.Write([]byte(answer))
}

func start(t *testing.T, answers map[string]string) (*api, *cluster.Client) {
	t.Helper()
	a := &api{answers: answers}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	client, err := cluster.NewClient(&rest.Config{Host: server.URL}, "team")
	require.NoError(t, err)
	return a, client
}

func connected(c *cluster.Client) func(context.Context) (*cluster.Client, error) {
	return func(context.Context) (*cluster.Client, error) { return c, nil }
}

const secret = `{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"shop","name":"web","uid":"u",` +
	`"resourceVersion":"1","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"c2VjcmV0"}},` +
	`"data":{"password":"c2VjcmV0"}}`

var web = helm.Question{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "web"}

func TestAViewReads(t *testing.T) {
	t.Parallel()
	a, client := start(t, map[string]string{
		"/api/v1/namespaces/shop/secrets/web": secret,
		"/api/v1/secrets":                     `{"kind":"SecretList","items":[{"metadata":{"name":"a"}}]}`,
		"/api/v1/nodes/one":                   `{"kind":"Node","metadata":{"name":"one"}}`,
	})
	v := lookup.New(connected(client))
	able, err := v.Capabilities(t.Context())
	require.NoError(t, err)
	require.Equal(t, &helm.Capabilities{KubeVersion: "v1.31.2", Namespace: "team",
		APIVersions: []string{"v1", "v1/Node", "v1/Secret"}}, able)
	for q, want := range map[helm.Question]string{
		web: secret,
		{APIVersion: "v1", Kind: "Secret"}: `{"kind":"SecretList","items":[{"metadata":{"name":"a"},` +
			`"apiVersion":"v1","kind":"Secret"}]}`,
		{APIVersion: "v1", Kind: "Node", Name: "one", Namespace: "no"}: `{"kind":"Node","metadata":{"name":"one"}}`,
	} {
		got, err := v.Lookup(t.Context(), q)
		require.NoError(t, err)
		require.JSONEq(t, want, string(got))
	}
	got, err := v.Lookup(t.Context(), helm.Question{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "gone"})
	require.NoError(t, err)
	require.Empty(t, got)
	require.Empty(t, v.Notes())
	for _, method := range a.methods {
		require.Equal(t, http.MethodGet, method)
	}
}

func TestWhatMayNotBeReadIsEmptyAndSaid(t *testing.T) {
	t.Parallel()
	_, client := start(t, map[string]string{"/api/v1/namespaces/shop/secrets/web": "!403 no",
		"/api/v1/secrets": "!403 no"})
	v := lookup.New(connected(client))
	for _, q := range []helm.Question{web, web, {APIVersion: "v1", Kind: "Secret"},
		{APIVersion: "example.com/v1", Kind: "Thing", Name: "x"}} {
		got, err := v.Lookup(t.Context(), q)
		require.NoError(t, err)
		require.Empty(t, got)
	}
	require.Equal(t, []string{
		"Not looked up: Secret shop/web, because the credentials of the deploy target may not read it",
		"Not looked up: all of kind Secret, because the credentials of the deploy target may not read it",
		"Not looked up: Thing x, because the cluster does not know example.com/v1 Thing",
	}, v.Notes())
}

func TestNotesHaveABound(t *testing.T) {
	t.Parallel()
	_, client := start(t, nil)
	v := lookup.New(connected(client))
	for i := range 30 {
		_, err := v.Lookup(t.Context(), helm.Question{APIVersion: "example.com/v1", Kind: fmt.Sprint("Thing", i)})
		require.NoError(t, err)
	}
	require.Len(t, v.Notes(), 21)
	require.Equal(t, "and 10 more that were not looked up", v.Notes()[20])
}

func TestAnswersThatCannotBeUsedAreErrors(t *testing.T) {
	t.Parallel()
	_, client := start(t, map[string]string{
		"/api/v1/namespaces/shop/secrets/web":   "!500 no leader",
		"/api/v1/namespaces/shop/secrets/large": `{"data":{"a":"` + strings.Repeat("x", 9<<20) + `"}}`,
		"/api/v1/namespaces/shop/secrets/odd":   `nothing`,
	})
	v := lookup.New(connected(client))
	for name, want := range map[string]string{"web": "the API answers 500: no leader", "large": "more than 8 MiB",
		"odd": "read the answer of the API", "../../nodes/one": "is not the name of an object"} {
		_, err := v.Lookup(t.Context(), helm.Question{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: name})
		require.ErrorContains(t, err, want)
	}
}

func TestAClusterThatCannotBeReachedIsAskedOnce(t *testing.T) {
	t.Parallel()
	calls := 0
	v := lookup.New(func(context.Context) (*cluster.Client, error) {
		calls++
		return nil, errors.New("refused")
	})
	for range 2 {
		_, err := v.Capabilities(t.Context())
		require.EqualError(t, err, "refused")
	}
	require.EqualError(t, v.Away(), "refused")
	require.Equal(t, 1, calls)
	require.Nil(t, v.Reads())
}

func TestReadsSeeWhatHasChanged(t *testing.T) {
	t.Parallel()
	const at = "/api/v1/namespaces/shop/secrets/web"
	list := `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{"metadata":{"name":"a",` +
		`"resourceVersion":"%s"}}]}`
	a, client := start(t, map[string]string{at: secret, "/api/v1/secrets": fmt.Sprintf(list, "1")})
	v := lookup.New(connected(client))
	for _, q := range []helm.Question{web, {APIVersion: "v1", Kind: "Secret"},
		{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "gone"},
		{APIVersion: "example.com/v1", Kind: "Thing"}} {
		_, err := v.Lookup(t.Context(), q)
		require.NoError(t, err)
	}
	reads := v.Reads()
	require.True(t, reads.Same(t.Context()))
	a.set("/api/v1/secrets", fmt.Sprintf(list, "2"))
	require.False(t, reads.Same(t.Context()))
	a.set("/api/v1/secrets", fmt.Sprintf(list, "1"))
	a.set("/api/v1/namespaces/shop/secrets/gone", secret)
	require.False(t, reads.Same(t.Context()), "it is there now")
	a.set("/api/v1/namespaces/shop/secrets/gone", "!500 no leader")
	require.True(t, reads.Same(t.Context()), "not known is not changed")
	a.set(at, strings.Replace(secret, `"resourceVersion":"1"`, `"resourceVersion":"2"`, 1))
	require.False(t, reads.Same(t.Context()))
}

func TestHiddenValuesAreInSecretsAlone(t *testing.T) {
	t.Parallel()
	_, client := start(t, map[string]string{"/api/v1/namespaces/shop/secrets/web": secret})
	key := []byte("key")
	v := lookup.New(connected(client)).Hide(key)
	got, err := v.Lookup(t.Context(), web)
	require.NoError(t, err)
	require.NotContains(t, string(got), "c2VjcmV0")
	require.Equal(t, []string{"Hidden: the values of Secrets that the chart looks up"}, v.Notes())
	again, err := lookup.New(connected(client)).Hide(key).Lookup(t.Context(), web)
	require.NoError(t, err)
	require.JSONEq(t, string(got), string(again), "a value has one mark")

	var found struct{ Data map[string]string }
	require.NoError(t, json.Unmarshal(got, &found))
	mark := found.Data["password"]
	plain, err := base64.StdEncoding.DecodeString(mark)
	require.NoError(t, err)
	made := func(kind string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind,
			"data":       map[string]any{"a": mark, "b": "b25l"},
			"stringData": map[string]any{"c": string(plain), "d": "one"}}}
		v.Restore(o)
		return o
	}
	require.Equal(t, map[string]any{"a": "c2VjcmV0", "b": "b25l"}, made("Secret").Object["data"])
	require.Equal(t, map[string]any{"c": "secret", "d": "one"}, made("Secret").Object["stringData"])
	require.Equal(t, map[string]any{"a": mark, "b": "b25l"}, made("ConfigMap").Object["data"])
}
