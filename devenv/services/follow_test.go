// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	webService = `{metadata: {name: web, namespace: default, labels: {pipecd.dev/application: app-1},
  annotations: {pipedeck.dev/addresses: '{"80":"127.0.0.1:13579","81":"127.0.0.1:13580"}'}},
  spec: {ports: [{name: http, port: 80}, {name: sql-db, port: 81}]}}`
	simulatedService = `{metadata: {name: x, namespace: default, labels: {pipecd.dev/application: app-2},
  annotations: {pipedeck.dev/simulated: "true", pipedeck.dev/addresses: '{"80":"127.0.0.1:13581"}'}},
  spec: {ports: [{port: 80}]}}`
	foreignService = `{metadata: {name: kubernetes, namespace: default}, spec: {ports: [{name: https, port: 443}]}}`
)

func webSlice(ready string) string {
	return `{metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}},
  endpoints: [{conditions: {` + ready + `}}]}`
}

func appNamed(string) string { return "web" }

// followed runs Follow and returns what it reports.
func followed(t *testing.T, a *api) (reports <-chan Published, ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	all, done := make(chan Published), make(chan error, 1)
	go func() {
		done <- Follow(ctx, a.Client, func(p Published) {
			select {
			case all <- p:
			case <-ctx.Done():
			}
		})
	}()
	t.Cleanup(cancel)
	return all, done
}

func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was reported")
		panic("unreachable")
	}
}

func TestAnApplicationAnswersOnceAPodIsReady(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.list(t, servicesPath, "["+webService+","+simulatedService+","+foreignService+"]")
	a.list(t, slicesPath, "["+webSlice("ready: false")+"]")
	reports, ended := followed(t, a)
	require.Empty(t, next(t, reports).Answering(appNamed))

	slice := a.events[slicesPath]
	for ready, want := range map[string]map[string]string{
		"ready: true":  {"app-1": "http://127.0.0.1:13579"},
		"ready: false": {},
		"":             {"app-1": "http://127.0.0.1:13579"}, // as Kubernetes defines it
	} {
		slice <- `{"type": "MODIFIED", "object": ` + asJSON(t, webSlice(ready)) + `}`
		require.Equal(t, want, next(t, reports).Answering(appNamed), ready)
	}
	slice <- `{"type": "DELETED", "object": ` + asJSON(t, webSlice("")) + `}`
	require.Empty(t, next(t, reports).Answering(appNamed))

	slice <- `{"type": "ERROR", "object": {"code": 410}}`
	require.ErrorContains(t, next(t, ended), `ERROR: {"code": 410}`)
}

func TestAddressesAreVariablesOfScripts(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.list(t, servicesPath, "["+webService+","+simulatedService+","+foreignService+"]")
	a.list(t, slicesPath, "[]")
	reports, _ := followed(t, a)
	const prefix = "PIPEDECK_SERVICE_DEFAULT_WEB_"
	web := map[string]string{
		prefix + "ADDRESS": "127.0.0.1:13579", prefix + "URL": "http://127.0.0.1:13579",
		prefix + "PORT_HTTP_ADDRESS": "127.0.0.1:13579", prefix + "PORT_HTTP_URL": "http://127.0.0.1:13579",
		prefix + "PORT_SQL_DB_ADDRESS": "127.0.0.1:13580",
	}
	all := next(t, reports)
	require.Equal(t, web, all.Variables(""), "also while no pod is ready, but of nothing that is simulated")
	require.Contains(t, all.Variables("eu-1"), "PIPEDECK_SERVICE_EU_1_DEFAULT_WEB_URL")

	second := `{metadata: {namespace: default, name: web-port-http, annotations: {
  pipedeck.dev/addresses: '{"9":"127.0.0.1:13582"}'}}, spec: {ports: [{port: 9}]}}`
	a.events[servicesPath] <- `{"type": "ADDED", "object": ` + asJSON(t, second) + `}`
	delete(web, prefix+"PORT_HTTP_ADDRESS")
	delete(web, prefix+"PORT_HTTP_URL")
	web[prefix+"PORT_HTTP_PORT_9_ADDRESS"] = "127.0.0.1:13582"
	require.Equal(t, web, next(t, reports).Variables(""), "a name that two ports would have stands for neither")
}

func TestTheEndOfAWatchIsAnError(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	_, ended := followed(t, a)
	require.ErrorContains(t, next(t, ended), "404")
	a.list(t, servicesPath, "[]")
	a.list(t, slicesPath, "[]")
	reports, ended := followed(t, a)
	next(t, reports)
	close(a.events[servicesPath])
	require.ErrorIs(t, next(t, ended), errEnded)
}
