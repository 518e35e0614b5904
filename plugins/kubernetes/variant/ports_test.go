// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// A route may send requests to two ports of the Service: each of them is shared out.
func TestEachPortOfTheServiceKeepsItsPart(t *testing.T) {
	t.Parallel()
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n" +
		"spec: {selector: {pipecd.dev/variant: primary}}\n---\n"
	const gateway = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web}\n" +
		"spec: {rules: [{backendRefs: "
	const istio = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: web}\n" +
		"spec: {http: [{route: "
	const traefik = "apiVersion: traefik.io/v1alpha1\nkind: IngressRoute\nmetadata: {name: web}\n" +
		"spec: {routes: [{match: A, services: "
	for name, c := range map[string]struct{ method, route, refs, with, want string }{
		"gateway": {config.MethodGateway, gateway, "[{name: web, port: 80, weight: 3}, {name: web, port: 81}]",
			`{"canary": 30}`, "[web:80=210 web-canary:80=90 web:81=70 web-canary:81=30]"},
		"gateway, of a common factor": {config.MethodGateway, gateway,
			"[{name: web, port: 80, weight: 50}, {name: web, port: 81, weight: 50}]", `{"canary": 100}`,
			"[web-canary:80=100 web-canary:81=100]"},
		"gateway, next to another Service": {config.MethodGateway, gateway,
			"[{name: web, port: 80, weight: 2}, {name: b, port: 1}, {name: web, port: 81}]", `{"canary": 50}`,
			"[web:80=2 web-canary:80=2 web:81=1 web-canary:81=1 b:1=2]"},
		"gateway, with a canary in Git": {config.MethodGateway, gateway,
			"[{name: web, port: 80}, {name: web-canary, port: 8080, weight: 0}]", `{"canary": 50}`,
			"[web:80=50 web-canary:80=50]"},
		"gateway, by a match": {config.MethodGateway, gateway,
			"[{name: web, port: 80, weight: 6}, {name: web, port: 81, weight: 2}]",
			`{"match": [{"header": {"name": "x", "exact": "1"}}]}`,
			"[web:80=300 web:81=100] [web-canary:80=3 web-canary:81=1]"},
		"traefik": {config.MethodTraefik, traefik, "[{name: web, port: 80, weight: 3}, {name: web, port: 81}]",
			`{"canary": 30, "match": [{"header": {"name": "x", "exact": "1"}}]}`,
			"[web:80=210 web-canary:80=90 web:81=70 web-canary:81=30] [web-canary:80=3 web-canary:81=1]"},
		"istio": {config.MethodIstio, istio, "[{destination: {host: web, subset: stable, port: 80}, weight: 60}, " +
			"{destination: {host: web, subset: other, port: 81}, weight: 40}]", `{"canary": 20}`,
			"[primary:80=48 canary:80=12 primary:81=32 canary:81=8]"},
		"istio, next to another host": {config.MethodIstio, istio,
			"[{destination: {host: web, port: 80}, weight: 30}, " +
				"{destination: {host: web.default.svc, port: 80}, weight: 15}, {destination: {host: web, port: 81}, " +
				"weight: 35}, {destination: {host: b, subset: b, port: 1}, weight: 20}]", `{"canary": 50}`,
			"[primary:80=23 canary:80=22 primary:81=18 canary:81=17 b:1=20]"},
		"istio, with a canary in Git": {config.MethodIstio, istio,
			"[{destination: {host: web, subset: primary}, weight: 100, headers: {a: b}}, " +
				"{destination: {host: web, subset: canary}, weight: 0}]", `{"canary": 50}`,
			"[primary:<nil>=50 canary:<nil>=50]"},
		"istio, by a match": {config.MethodIstio, istio, "[{destination: {host: web, port: 80}, weight: 75}, " +
			"{destination: {host: web, port: 81}, weight: 25}]",
			`{"match": [{"header": {"name": "x", "exact": "1"}}]}`,
			"[canary:80=75 canary:81=25] [primary:80=75 primary:81=25]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, err := manifest.Parse([]byte(service+c.route+c.refs+"}]}\n"), "a.yaml")
			require.NoError(t, err)
			app := application(t)
			app.TrafficRouting.Method = c.method
			made := route(t, app, parsed, steered(t, c.with))
			require.Equal(t, c.want, weightsOf(made[len(made)-1]))
		})
	}
}

// weightsOf are the backends of each rule of a route, with port and weight.
func weightsOf(m manifest.Manifest) (text string) {
	spec := m.Object["spec"].(map[string]any)
	for _, list := range []string{"rules", "http", "routes"} {
		rules, _ := spec[list].([]any)
		for i, rule := range rules {
			var all []string
			for _, field := range []string{"backendRefs", "route", "services"} {
				refs, _ := rule.(map[string]any)[field].([]any)
				for _, item := range refs {
					ref := item.(map[string]any)
					if d, ok := ref["destination"].(map[string]any); ok {
						all = append(all, fmt.Sprintf("%v:%v=%v", d["subset"], d["port"], ref["weight"]))
						continue
					}
					all = append(all, fmt.Sprintf("%v:%v=%v", ref["name"], ref["port"], ref["weight"]))
				}
			}
			if i > 0 {
				text += " "
			}
			text += fmt.Sprint(all)
		}
	}
	return text
}
