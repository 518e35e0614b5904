// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
)

// api is a cluster that has lists, and watches that the test feeds.
type api struct {
	*kubeapi.Client
	mu    sync.Mutex
	lists map[string]string
	// events are those of the watch of a path; closing one ends the watch.
	events map[string]chan string
}

// asJSON turns YAML of one object into JSON.
func asJSON(t *testing.T, text string) string {
	t.Helper()
	var object any
	require.NoError(t, yaml.Unmarshal([]byte(text), &object))
	encoded, err := json.Marshal(object)
	require.NoError(t, err)
	return string(encoded)
}

func newAPI(t *testing.T) *api {
	t.Helper()
	a := &api{lists: map[string]string{}, events: map[string]chan string{
		servicesPath: make(chan string), slicesPath: make(chan string),
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "true" {
			w.(http.Flusher).Flush()
			for {
				select {
				case event, more := <-a.events[r.URL.Path]:
					if !more {
						return
					}
					fmt.Fprintln(w, event)
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return
				}
			}
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		items, ok := a.lists[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, `{"metadata": {"resourceVersion": "7"}, "items": %s}`, items)
	}))
	t.Cleanup(server.Close)
	client, err := kubeapi.Open(fmt.Appendf(nil, "current-context: a\ncontexts: [{name: a, context: {cluster: a}}]\n"+
		"clusters: [{name: a, cluster: {server: %q}}]\n", server.URL))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	a.Client = client
	return a
}

func (a *api) list(t *testing.T, path, items string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lists[path] = asJSON(t, items)
}

func TestWhereTheClusterAnswersItselfThatIsTheAddress(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.list(t, servicesPath, `[
  {metadata: {name: web, namespace: default, annotations: {
    pipedeck.dev/addresses: '{"80":"127.0.0.1:13579","81":"127.0.0.1:13580"}'}},
   spec: {ports: [{name: http, port: 80}, {name: data, port: 81}, {name: late, port: 82}]}},
  {metadata: {name: x, namespace: default, annotations: {pipedeck.dev/simulated: "true",
    pipedeck.dev/addresses: '{"83":"127.0.0.1:13581"}'}},
   spec: {ports: [{name: nothing, port: 83}]}}]`)
	a.list(t, routePaths[0], `[{metadata: {name: web, namespace: default, annotations: {
    pipedeck.dev/addresses: '{"*":"127.0.0.1:14321","shop.example":"127.0.0.1:14321",
    "shop.localhost":"127.0.0.1:14321"}'}}}]`)
	open := func(port string) (Address, error) {
		return Open(t.Context(), a.Client, Request{Cluster: "dev", ApplicationID: "app-1", Name: "web", Port: port})
	}
	address, err := open("")
	require.NoError(t, err)
	require.Equal(t, Address{
		URL: "http://127.0.0.1:13579",
		Detail: "Service default/web, port http; by route: http://127.0.0.1:14321, " +
			"http://127.0.0.1:14321 with the header Host: shop.example, http://shop.localhost:14321 " +
			"(--port also takes web:data, web:late, x:nothing)",
	}, address)
	address, err = open("data")
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:13580", address.URL)
	_, err = open("nothing")
	require.ErrorIs(t, err, cluster.ErrSimulated)
	_, err = open("late")
	require.ErrorIs(t, err, ErrNotPublished)
	_, err = open("db:sql")
	require.EqualError(t, err, `web has no service "db"; leave --port out to see the ones it has`)
	a.list(t, servicesPath, `[]`)
	_, err = open("")
	require.ErrorIs(t, err, ErrNotPublished)
}

func TestWhatAPortSpeaks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		appProtocol, name string
		number            int32
		scheme            Scheme
	}{
		{"", "http", 9, HTTP}, {"", "http-admin", 9, HTTP}, {"", "web", 9, HTTP},
		{"HTTP", "x", 9, HTTP},
		{"kubernetes.io/ws", "x", 9, HTTP}, {"kubernetes.io/wss", "x", 9, HTTPS},
		{"", "https", 9, HTTPS},
		{"", "", 80, HTTP}, {"", "", 443, HTTPS}, {"", "", 5432, None},
		{"kubernetes.io/h2c", "http", 80, None}, {"", "grpc", 80, None}, {"tcp", "http", 80, None},
	} {
		require.Equal(t, c.scheme, SchemeOf(c.appProtocol, c.name, c.number), c)
	}
}
