// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reached waits until a version has had n requests, copies included, and demands that it gets no more.
func (w *world) reached(version string, n int64) {
	w.t.Helper()
	count := func() int64 {
		count, known := w.answered.Load(version)
		if !known {
			return 0
		}
		return count.(*atomic.Int64).Load()
	}
	require.Eventually(w.t, func() bool { return count() >= n }, time.Minute, time.Millisecond)
	w.router.copies.Close() // waits for those under way
	require.Equal(w.t, n, count(), version)
}

const steered = `
kind: HTTPRoute
metadata: {name: web}
spec:
  parentRefs: [{name: edge}]
  rules:
    - matches: [{path: {value: /}}]
      backendRefs: [{name: web, port: 80, weight: 90}, {name: web-canary, port: 80, weight: 10}]
    - matches:
        - {path: {value: /}, headers: [{type: Exact, name: x-canary, value: "true"}]}
        - path: {value: /}
          headers: [{type: RegularExpression, name: cookie, value: '^(.*;\s*)?canary=always(\s*;.*)?$'}]
      backendRefs: [{name: web-canary, port: 80}]
`

func TestAnHTTPRouteSendsByHeaderAndByCookie(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service("web", "stable")
	w.service("web-canary", "canary")
	edge, mesh, _ := routeRules(route(t, steered), httpGateway("edge"))
	w.router.set(edge, mesh)
	for _, headers := range [][]string{
		{"X-Canary", "true"}, {"Cookie", "canary=always"}, {"Cookie", "a=b; canary=always; c=d"},
	} {
		require.Equal(t, map[string]int{"canary": 20},
			count(20, func() string { return w.get("http://a.localhost/", headers...) }), headers)
	}
	for _, headers := range [][]string{nil, {"X-Canary", "false"}, {"Cookie", "xcanary=always"}} {
		require.Equal(t, map[string]int{"stable": 90, "canary": 10},
			count(100, func() string { return w.get("http://a.localhost/", headers...) }), headers)
	}
}

func TestAnHTTPRouteCopiesAShareOfTheRequests(t *testing.T) {
	t.Parallel()
	for share, copies := range map[string]int64{
		"": 40, "percent: 30": 12, "fraction: {numerator: 1, denominator: 20}": 2, "percent: 0": 0,
	} {
		w := newWorld(t)
		// fewer than may be under way at a time
		ask := func(n int) map[string]int { return count(n, func() string { return w.get("http://a.localhost/") }) }
		w.service("web", "stable")
		w.service("web-canary", "canary")
		edge, mesh, _ := routeRules(route(t, `
kind: HTTPRoute
metadata: {name: web}
spec:
  parentRefs: [{name: edge}]
  rules:
    - filters: [{type: RequestMirror, requestMirror: {backendRef: {name: web-canary, port: 80}, `+share+`}}]
      backendRefs: [{name: web, port: 80}]
`), httpGateway("edge"))
		w.router.set(edge, mesh)
		require.Equal(t, map[string]int{"stable": 40}, ask(40), share)
		w.reached("canary", copies)
	}
}

func TestCopiesForABackendThatIsNotThereHoldNoRequestUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service("web", "stable")
	edge, mesh, _ := routeRules(route(t, `
kind: HTTPRoute
metadata: {name: web}
spec:
  parentRefs: [{name: edge}]
  rules:
    - filters: [{type: RequestMirror, requestMirror: {backendRef: {name: gone, port: 80}}}]
      backendRefs: [{name: web, port: 80}]
      sessionPersistence: {sessionName: web}
`), httpGateway("edge"))
	w.router.set(edge, mesh)
	require.Equal(t, map[string]int{"stable": 10}, count(10, func() string { return w.get("http://a.localhost/") }))
	r := route(t, "kind: HTTPRoute\nmetadata: {name: web}\n"+
		"spec: {parentRefs: [{name: edge}], rules: [{sessionPersistence: {}}]}")
	require.Equal(t, []string{"spec.rules[0].sessionPersistence is not honoured"}, r.problems())
}

func TestAVirtualServiceSendsByCookieAndCopies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service("web", "v1", "v2")
	known := subsets{}
	require.NoError(t, known.read(object(t, `
kind: DestinationRule
metadata: {name: web}
spec:
  host: web
  subsets: [{name: primary, labels: {version: v1}}, {name: canary, labels: {version: v2}}]
`)))
	edge, mesh, problems, err := virtualRules(object(t, `
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [a.localhost]
  gateways: [edge]
  http:
    - match: [{headers: {cookie: {regex: '^(.*;\s*)?canary=always(\s*;.*)?$'}}}]
      route: [{destination: {host: web, subset: canary}}]
    - mirror: {host: web, subset: canary}
      mirrorPercentage: {value: 12.5}
      route: [{destination: {host: web, subset: primary}}]
`), known)
	require.NoError(t, err)
	require.Empty(t, problems)
	w.router.set(edge, mesh)
	require.Equal(t, map[string]int{"v2": 10},
		count(10, func() string { return w.get("http://a.localhost/", "Cookie", "canary=always") }))
	require.Equal(t, map[string]int{"v1": 80}, count(80, func() string { return w.get("http://a.localhost/") }))
	w.reached("v2", 10+10)
}

func TestACanaryIngressSharesTheRequestsOfAnother(t *testing.T) {
	t.Parallel()
	ingress := func(name, service string, annotations map[string]string) *networkingv1.Ingress {
		prefix := networkingv1.PathTypePrefix
		made := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, Annotations: annotations,
		}}
		rule := networkingv1.IngressRule{Host: "a.localhost"}
		rule.HTTP = &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{
			{Path: "/", PathType: &prefix, Backend: *to(service)},
		}}
		made.Spec.Rules = []networkingv1.IngressRule{rule}
		return made
	}
	const p = nginxCanary
	for name, tt := range map[string]struct {
		annotations  map[string]string
		headers      []string
		stable, news int
	}{
		"a weight":                 {map[string]string{p + "-weight": "20"}, nil, 80, 20},
		"a weight and another one": {map[string]string{p + "-weight": "101"}, nil, 100, 0},
		"a header": {map[string]string{p + "-by-header": "X-A", p + "-by-header-value": "1"},
			[]string{"X-A", "1"}, 0, 100},
		"another value": {map[string]string{p + "-by-header": "X-A", p + "-by-header-value": "1"},
			[]string{"X-A", "always"}, 100, 0},
		"a pattern": {map[string]string{p + "-by-header": "X-A", p + "-by-header-pattern": "[ab]"},
			[]string{"X-A", "b"}, 0, 100},
		"a header alone": {map[string]string{p + "-by-header": "X-A"}, []string{"X-A", "always"}, 0, 100},
		"never by a header": {map[string]string{p + "-by-header": "X-A", p + "-weight": "50"},
			[]string{"X-A", "never"}, 100, 0},
		"a cookie": {map[string]string{p + "-by-cookie": "c", p + "-weight": "0"},
			[]string{"Cookie", "a=b; c=always"}, 0, 100},
		"never by a cookie": {map[string]string{p + "-by-cookie": "c", p + "-weight": "50"},
			[]string{"Cookie", "c=never"}, 100, 0},
		"a cookie of a value": {map[string]string{p + "-by-cookie": "c", p + "-weight": "50"},
			[]string{"Cookie", "c=x"}, 50, 50},
	} {
		w := newWorld(t)
		w.service("web", "stable")
		w.service("web-canary", "canary")
		tt.annotations[nginxCanary] = "true"
		canary := ingress("web-canary", "web-canary", tt.annotations)
		require.True(t, isCanary(canary))
		rules := ingressRules(ingress("web", "web", nil))
		added, problems := addCanary(rules, canary)
		require.Empty(t, problems)
		w.router.set(append(rules, added...), nil)
		want := map[string]int{"stable": tt.stable, "canary": tt.news}
		for version, n := range want {
			if n == 0 {
				delete(want, version)
			}
		}
		require.Equal(t, want, count(100, func() string { return w.get("http://a.localhost/x", tt.headers...) }), name)
	}
	_, problems := addCanary(nil, ingress("web-canary", "web-canary", nil))
	require.Equal(t, []string{"path a.localhost/ is of no other Ingress, so the canary gets no requests by it"},
		problems)
}
