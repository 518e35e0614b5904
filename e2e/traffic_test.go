// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
)

// halfPipeline gives the canary half of the requests until it is approved.
const halfPipeline = `  pipeline:
    stages:
      - {name: K8S_CANARY_ROLLOUT, with: {replicas: 50%, createService: SERVICE}}
      - {name: K8S_TRAFFIC_ROUTING, with: {canary: 50}}
      - {name: WAIT_APPROVAL, with: {minApproverNum: 1}}
      - {name: K8S_PRIMARY_ROLLOUT}
      - {name: K8S_TRAFFIC_ROUTING, with: {all: primary}}
      - {name: K8S_CANARY_CLEAN}
`

// greenPipeline moves all requests to the canary, and back when the primary is new. The baseline gets none: it is there
// to be compared with.
const greenPipeline = `  pipeline:
    stages:
      - {name: K8S_BASELINE_ROLLOUT, with: {replicas: 100%}}
      - {name: K8S_CANARY_ROLLOUT, with: {replicas: 100%}}
      - {name: K8S_TRAFFIC_ROUTING, with: {all: canary}}
      - {name: WAIT_APPROVAL, with: {minApproverNum: 1}}
      - {name: K8S_PRIMARY_ROLLOUT}
      - {name: K8S_TRAFFIC_ROUTING, with: {all: primary}}
      - {name: K8S_CANARY_CLEAN}
      - {name: K8S_BASELINE_CLEAN}
`

// webDeployment runs the program in the folder web.
const webDeployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
spec:
  replicas: 2
  selector:
    matchLabels: {app: NAME, pipecd.dev/variant: primary}
  template:
    metadata:
      labels: {app: NAME, pipecd.dev/variant: primary}
    spec:
      containers:
        - name: main
          image: pipedeck.dev/web:v1
          ports: [{name: http, containerPort: 8080}]
          env: [{name: VERSION, value: v1}]
          readinessProbe: {httpGet: {path: /healthz, port: http}, periodSeconds: 1}
`

const webService = `apiVersion: v1
kind: Service
metadata:
  name: NAME
spec:
  selector: {SELECTOR}
  ports: [{name: http, port: 80, targetPort: http}]
`

// virtualService sends requests for the Service mesh to its pods of the variants.
const virtualService = `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata:
  name: mesh
spec:
  hosts: [mesh]
  http: [{route: [{destination: {host: mesh, subset: primary}, weight: 100}]}]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata:
  name: mesh
spec:
  host: mesh
  subsets:
    - {name: primary, labels: {pipecd.dev/variant: primary}}
    - {name: canary, labels: {pipecd.dev/variant: canary}}
`

// httpRoute sends requests for the Service route to the Services of the variants.
const httpRoute = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: route
spec:
  parentRefs: [{group: "", kind: Service, name: route}]
  rules: [{backendRefs: [{name: route, port: 80}]}]
`

// helloProgram is the program of the sample, which honours PORT and lets open requests finish.
func helloProgram(t *testing.T) string {
	t.Helper()
	sample, err := sampleapps.Find("hello-world")
	require.NoError(t, err)
	program := ""
	require.NoError(t, sample.Walk(func(name string, content []byte) error {
		if name == "hello-world/main.go" {
			program = string(content)
		}
		return nil
	}))
	require.NotEmpty(t, program)
	return program
}

// trafficRepository has three applications of one program: mesh and route share requests between versions, web moves
// them all at once.
func trafficRepository(t *testing.T) string {
	t.Helper()
	files := map[string]string{"go.mod": "module sample\n\ngo 1.26\n", "web/main.go": helloProgram(t)}
	for name, app := range map[string]struct{ pipeline, routing, selector, more string }{
		"mesh": {strings.ReplaceAll(halfPipeline, "SERVICE", "false"), "method: istio", "app: mesh", virtualService},
		"route": {strings.ReplaceAll(halfPipeline, "SERVICE", "true"), "method: gateway",
			"app: route, pipecd.dev/variant: primary", httpRoute},
		"web": {greenPipeline, "method: podselector", "app: web, pipecd.dev/variant: primary", ""},
	} {
		files[name+"/app.pipecd.yaml"] = strings.Replace(application(name, app.pipeline), "kubernetes: {}",
			"kubernetes: {service: {name: "+name+"}, trafficRouting: {"+app.routing+"}}", 1)
		files[name+"/deployment.yaml"] = strings.ReplaceAll(webDeployment, "NAME", name)
		files[name+"/service.yaml"] = strings.NewReplacer("NAME", name, "SELECTOR", app.selector).Replace(webService)
		if app.more != "" {
			files[name+"/routes.yaml"] = app.more
		}
	}
	return repository(t, files)
}

// Clients ask all the while: none of them gets a wrong answer, or none.
func TestACanaryGetsItsShareAndGreenReplacesBlueWithoutLosingARequest(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := trafficRepository(t)
	s := e.start("up", dir)
	apps := []string{"mesh", "route", "web"}
	urls, crowds := map[string]string{}, map[string]*crowd{}
	for _, app := range apps {
		s.await("version one of "+app+" is deployed", deployed(app, "SUCCESS"))
		urls[app] = e.open(app)
		require.Equal(t, map[string]int{"v1": 20}, versions(urls[app], 20), app)
		crowds[app] = newCrowd(t, urls[app])
	}

	commit := replaceAndCommit(t, dir, "v1}]", "v2}]", "mesh/deployment.yaml", "route/deployment.yaml",
		"web/deployment.yaml")
	waiting := map[string]event{}
	for _, app := range apps {
		waiting[app] = s.await(app+" waits for an approval", waits(app))
	}
	for _, app := range []string{"mesh", "route"} {
		counts := versions(urls[app], 1000)
		t.Logf("1,000 requests for %s: %v", app, counts)
		require.Len(t, counts, 2, app)
		require.InDelta(t, 500, counts["v1"], 80, app)
		require.InDelta(t, 500, counts["v2"], 80, app) // five times the standard deviation
	}
	require.Equal(t, map[string]int{"v2": 20}, versions(urls["web"], 20), "green answers")

	for _, app := range apps {
		require.Zero(t, e.pipedeck("approve", waiting[app]["id"].(string)).Code)
	}
	for _, app := range apps {
		s.await("version two of "+app+" is everywhere", deployed(app, "SUCCESS", "commit", commit))
		require.Equal(t, map[string]int{"v2": 50}, versions(urls[app], 50), app)
		requireAnswers(t, app, crowds[app].leave(), app == "web")
	}
	require.Zero(t, e.pipedeck("down").Code)
	s.wait()
	e.leavesNothing()
}

// requireAnswers demands that each client has got version one, then version two, and nothing else. Each version has its
// time unless requests were shared meanwhile.
func requireAnswers(t *testing.T, app string, answers [][]string, inOrder bool) {
	t.Helper()
	counts := map[string]int{}
	for _, ofOne := range answers {
		var seen []string
		for _, page := range ofOne {
			seen = append(seen, version(page))
			counts[version(page)]++
		}
		if inOrder {
			require.Equal(t, []string{"v1", "v2"}, slices.Compact(seen), app)
		}
	}
	t.Logf("requests for %s all the while: %v", app, counts)
	require.Equal(t, []string{"v1", "v2"}, slices.Sorted(maps.Keys(counts)), app)
}
