// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// steeredPipeline lets requests with a header or a cookie reach the canary, and a tenth of the others, until it is
// approved; then it copies a quarter of the requests to it.
const steeredPipeline = `  pipeline:
    stages:
      - {name: K8S_CANARY_ROLLOUT, with: {replicas: 1, createService: SERVICE}}
      - name: K8S_TRAFFIC_ROUTING
        with:
          canary: 10
          match:
            - {header: {name: x-canary, exact: "true"}}
            - {cookie: {name: canary, exact: always}}
      - {name: WAIT_APPROVAL, with: {minApproverNum: 1}}
      - {name: K8S_TRAFFIC_ROUTING, with: STEP}
      - {name: WAIT_APPROVAL, with: {minApproverNum: 1}}
      - {name: K8S_PRIMARY_ROLLOUT}
      - {name: K8S_TRAFFIC_ROUTING, with: {all: primary}}
      - {name: K8S_CANARY_CLEAN}
`

const steeredCopies = `{all: primary, mirror: {percent: 25}, match: [{header: {name: x-canary, exact: "true"}}]}`

const steeredIngress = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: edge
spec:
  ingressClassName: nginx
  rules:
    - http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: edge, port: {name: http}}}}]}
`

// countingProgram is the sample's program, which also reports how many greetings it has given.
func countingProgram(t *testing.T) string {
	t.Helper()
	program := helloProgram(t)
	for old, new := range map[string]string{
		"\t\"os/signal\"\n": "\t\"os/signal\"\n\t\"sync/atomic\"\n",
		"\tmux := http.NewServeMux()\n": "\tmux := http.NewServeMux()\n\tvar greetings atomic.Int64\n" +
			"\tmux.HandleFunc(\"GET /greetings\", func(w http.ResponseWriter, _ *http.Request) { " +
			"fmt.Fprintln(w, greetings.Load()) })\n",
		"\t\tfmt.Fprintf(w, \"%s (version": "\t\tgreetings.Add(1)\n\t\tfmt.Fprintf(w, \"%s (version",
	} {
		require.Contains(t, program, old)
		program = strings.Replace(program, old, new, 1)
	}
	return program
}

// steeredRepository has an application for each way to route: mesh by Istio, route by the Gateway API, edge by
// ingress-nginx.
func steeredRepository(t *testing.T) string {
	t.Helper()
	files := map[string]string{"go.mod": "module sample\n\ngo 1.26\n", "web/main.go": countingProgram(t)}
	for name, app := range map[string]struct{ service, step, method, selector, more string }{
		"mesh":  {"false", steeredCopies, "istio", "app: mesh", virtualService},
		"route": {"true", steeredCopies, "gateway", "app: route, pipecd.dev/variant: primary", httpRoute},
		"edge":  {"true", "{canary: 50}", "nginx", "app: edge, pipecd.dev/variant: primary", steeredIngress},
	} {
		pipeline := strings.NewReplacer("SERVICE", app.service, "STEP", app.step).Replace(steeredPipeline)
		files[name+"/app.pipecd.yaml"] = strings.Replace(application(name, pipeline), "kubernetes: {}",
			"kubernetes: {service: {name: "+name+"}, trafficRouting: {method: "+app.method+"}}", 1)
		files[name+"/deployment.yaml"] = strings.ReplaceAll(webDeployment, "NAME", name)
		files[name+"/service.yaml"] = strings.NewReplacer("NAME", name, "SELECTOR", app.selector).Replace(webService)
		files[name+"/routes.yaml"] = app.more
	}
	return repository(t, files)
}

// openRoute returns the address of an application at the proxy that Ingresses are served by.
func (e *environment) openRoute(app string) string {
	e.t.Helper()
	r := e.pipedeck("open", app, "-o", "json")
	require.Zero(e.t, r.Code, r.Stderr)
	found := regexp.MustCompile(`by route: (http://[0-9.:]+)`).FindStringSubmatch(r.Stdout)
	require.NotNil(e.t, found, r.Stdout)
	return found[1]
}

// steered asks n times with a header and counts the answers by the version that the page names.
func steered(t *testing.T, address string, n int, name, value string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	client := newClient(false)
	client.Transport = withHeader{client.Transport, name, value}
	for range n {
		counts[version(ask(client, address))]++
	}
	return counts
}

// withHeader adds a header to requests.
type withHeader struct {
	next        http.RoundTripper
	name, value string
}

func (w withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(w.name, w.value)
	return w.next.RoundTrip(r)
}

// canaryGreetings is how many greetings the canary has given.
func canaryGreetings(t *testing.T, address string) int {
	t.Helper()
	at, err := url.JoinPath(address, "greetings")
	require.NoError(t, err)
	client := newClient(false)
	client.Transport = withHeader{client.Transport, "x-canary", "true"}
	text, err := fetch(client, at)
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(text))
	require.NoError(t, err)
	return n
}

// Requests that match reach the canary, all of them; the others go by the shares. Copies are answered by the primary
// and counted at the canary.
func TestHeadersAndCookiesReachTheCanaryAndCopiesAreOnlyCountedThere(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := steeredRepository(t)
	s := e.start("up", dir)
	apps := []string{"mesh", "route", "edge"}
	urls := map[string]string{}
	for _, app := range apps {
		s.await("version one of "+app+" is deployed", deployed(app, "SUCCESS"))
		if urls[app] = e.open(app); app == "edge" {
			urls[app] = e.openRoute(app)
		}
		require.Equal(t, map[string]int{"v1": 20}, versions(urls[app], 20), app)
	}
	commit := replaceAndCommit(t, dir, "v1}]", "v2}]", "mesh/deployment.yaml", "route/deployment.yaml",
		"edge/deployment.yaml")
	waiting := map[string]event{}
	for _, app := range apps {
		first := s.await(app+" waits for an approval", waits(app))
		require.Equal(t, map[string]int{"v2": 50}, steered(t, urls[app], 50, "X-Canary", "true"), app)
		require.Equal(t, map[string]int{"v2": 50}, steered(t, urls[app], 50, "Cookie", "a=b; canary=always"), app)
		others := steered(t, urls[app], 500, "Cookie", "a=b; canary=never-seen")
		t.Logf("500 other requests for %s: %v", app, others)
		require.InDelta(t, 450, others["v1"], 10, app)
		require.InDelta(t, 50, others["v2"], 10, app)
		require.Zero(t, e.pipedeck("approve", first["id"].(string)).Code)
		waiting[app] = s.await(app+" waits for another approval", func(v event) bool {
			return waits(app)(v) && v["id"] != first["id"]
		})
	}
	for _, app := range []string{"mesh", "route"} {
		before := canaryGreetings(t, urls[app])
		require.Equal(t, map[string]int{"v1": 200}, versions(urls[app], 200), app)
		require.Eventually(t, func() bool { return canaryGreetings(t, urls[app]) >= before+50 }, patience,
			10*time.Millisecond, app)
		require.Equal(t, before+50, canaryGreetings(t, urls[app]), app)
		require.Equal(t, map[string]int{"v2": 20}, steered(t, urls[app], 20, "X-Canary", "true"), app)
		require.Equal(t, map[string]int{"v1": 20}, steered(t, urls[app], 20, "Cookie", "canary=always"), app)
	}
	require.Equal(t, map[string]int{"v1": 50, "v2": 50}, steered(t, urls["edge"], 100, "X-Canary", "true"))

	// Neither a rollback nor the end of a pipeline leaves a way to a canary that is not there.
	require.Zero(t, e.pipedeck("cancel", "route").Code)
	s.await("route is rolled back", deployed("route", "CANCELLED"))
	require.Equal(t, map[string]int{"v1": 50}, steered(t, urls["route"], 50, "X-Canary", "true"))
	for _, app := range []string{"mesh", "edge"} {
		require.Zero(t, e.pipedeck("approve", waiting[app]["id"].(string)).Code)
		s.await("version two of "+app+" is everywhere", deployed(app, "SUCCESS", "commit", commit))
		require.Equal(t, map[string]int{"v2": 50}, steered(t, urls[app], 50, "X-Canary", "true"), app)
		require.Equal(t, map[string]int{"v2": 50}, versions(urls[app], 50), app)
	}
	require.Zero(t, e.pipedeck("down").Code)
	s.wait()
	e.leavesNothing()
}
