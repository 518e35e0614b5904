// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// steered is what a stage asks for with these options.
func steered(t *testing.T, with string) config.Traffic {
	t.Helper()
	traffic, err := config.DecodeTraffic([]byte(with))
	require.NoError(t, err)
	return traffic
}

const (
	byHeaderAndCookie = `{"canary": 10, "match": [{"header": {"name": "X-Canary", "exact": "true"}},
		{"cookie": {"name": "canary", "exact": "always"}}]}`
	byExpressions = `{"all": "primary", "match": [{"header": {"name": "x-user", "regex": "[a-c].*"}},
		{"cookie": {"name": "group", "regex": "beta[0-9]"}}]}`
	copied = `{"canary": 20, "mirror": {"percent": 30}}`
	copies = `{"all": "primary", "mirror": {"to": "baseline"}}`
	kept   = `{"canary": 20, "sessionAffinity": {"cookie": "web"}}`
	all    = `{"canary": 20, "baseline": 5, "match": [{"header": {"name": "x-canary", "exact": "true"}}],
		"mirror": {"percent": "50%"}, "sessionAffinity": {"cookie": "web"}}`
)

var bothServices = config.VariantServices{Canary: "canary", Baseline: "b"}

func TestSteeredRoutesLookAsInTheGoldenFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ dir, method, object, with string }{
		"steered-gateway-match":       {"gateway", config.MethodGateway, "", byHeaderAndCookie},
		"steered-gateway-expressions": {"gateway", config.MethodGateway, "", byExpressions},
		"steered-gateway-copied":      {"gateway", config.MethodGateway, "", copied},
		"steered-gateway-copies":      {"gateway", config.MethodGateway, "", copies},
		"steered-gateway-all":         {"gateway", config.MethodGateway, "", all},
		"steered-istio-match":         {"routed", config.MethodIstio, "", byHeaderAndCookie},
		"steered-istio-expressions":   {"routed", config.MethodIstio, "", byExpressions},
		"steered-istio-copied":        {"routed", config.MethodIstio, "", copied},
		"steered-nginx-match":         {"ingress", config.MethodNginx, "", byHeaderAndCookie},
		"steered-nginx-expression": {"ingress", config.MethodNginx, "",
			`{"all": "canary", "match": [{"header": {"name": "x-user", "regex": "[a-c].*"}}]}`},
		"steered-traefik-shares":      {"ingress", config.MethodTraefik, "", `{"canary": 10}`},
		"steered-traefik-match":       {"ingress", config.MethodTraefik, "", byHeaderAndCookie},
		"steered-traefik-expressions": {"ingress", config.MethodTraefik, "v2", byExpressions},
		"steered-traefik-copied":      {"ingress", config.MethodTraefik, "", copied},
		"steered-traefik-copies":      {"ingress", config.MethodTraefik, "", copies},
		"steered-traefik-kept":        {"ingress", config.MethodTraefik, "", kept},
		"steered-traefik-all":         {"ingress", config.MethodTraefik, "", all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app, from := application(t), load(t, tt.dir)
			app.TrafficRouting.Method = tt.method
			app.TrafficRouting.Traefik.IngressRoute.Name = tt.object
			golden(t, name, route(t, app, from, steered(t, tt.with)))
			require.Equal(t, load(t, tt.dir), from, "what is given stays as it is")
		})
	}
}

// route returns everything that a stage writes.
func route(t *testing.T, app *config.Application, from []manifest.Manifest,
	traffic config.Traffic) (made []manifest.Manifest) {
	t.Helper()
	var m manifest.Manifest
	var added []manifest.Manifest
	var err error
	switch app.TrafficRouting.Method {
	case config.MethodGateway:
		m, err = variant.RouteGateway(from, app, bothServices, traffic)
	case config.MethodIstio:
		m, err = variant.RouteVirtualService(from, app, traffic)
	case config.MethodNginx:
		m, err = variant.CanaryIngress(from, app, bothServices, traffic)
	case config.MethodTraefik:
		m, added, err = variant.RouteTraefik(from, app, bothServices, traffic)
	}
	require.NoError(t, err)
	return append(added, m)
}

func TestWhatCannotBeSteeredIsAnErrorWithItsPlace(t *testing.T) {
	t.Parallel()
	parse := func(text string) []manifest.Manifest {
		const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n" +
			"spec: {selector: {pipecd.dev/variant: primary}}\n---\n"
		parsed, err := manifest.Parse([]byte(service+text), "a.yaml")
		require.NoError(t, err)
		return parsed
	}
	app := application(t)
	for want, text := range map[string]string{
		"a.yaml:11: spec.rules[0].matches of HTTPRoute web: an entry has the header X-Canary already": "apiVersion: " +
			"gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web}\nspec:\n  rules:\n" +
			"    - matches: [{headers: [{name: x-CANARY, value: a}]}]\n      backendRefs: [{name: web}]\n",
		"spec.rules[0].matches of HTTPRoute web: an entry is not a mapping": "apiVersion: " +
			"gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web}\nspec:\n  rules:\n" +
			"    - {matches: [7], backendRefs: [{name: web}]}\n",
	} {
		_, err := variant.RouteGateway(parse(text), app, bothServices, steered(t, byHeaderAndCookie))
		require.ErrorContains(t, err, want)
	}
	const istio = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: web}\nspec:\n  http:\n"
	_, err := variant.RouteVirtualService(parse(istio+
		"    - {match: [{headers: {x-canary: {exact: a}}}], route: [{destination: {host: web}}]}\n"), app,
		steered(t, byHeaderAndCookie))
	require.ErrorContains(t, err, "a.yaml:11: spec.http[0].match of VirtualService web: an entry has the header "+
		"x-canary")
	_, err = variant.RouteVirtualService(parse(istio+
		"    - {mirror: {host: other}, route: [{destination: {host: web}}]}\n"), app, steered(t, copied))
	require.ErrorContains(t, err, "spec.http[0].mirror of VirtualService web: the route copies requests already")

	from := load(t, "ingress")
	app.TrafficRouting.Nginx.Ingress.Name = "whole"
	_, err = variant.CanaryIngress(from, app, bothServices, steered(t, `{"canary": 10}`))
	require.ErrorContains(t, err, "no path of Ingress whole leads to the Service web")
	app.TrafficRouting.Nginx.Ingress.Name = "absent"
	_, err = variant.CanaryIngress(from, app, bothServices, steered(t, `{"canary": 10}`))
	require.ErrorContains(t, err, `there is no Ingress named "absent" of networking.k8s.io among the manifests `+
		`(trafficRouting.nginx.ingress.name)`)
	app.TrafficRouting.Traefik.IngressRoute.Name = "elsewhere"
	_, _, err = variant.RouteTraefik(from, app, bothServices, steered(t, `{"canary": 10}`))
	require.ErrorContains(t, err, "no route of IngressRoute elsewhere has the Service web")
}

// A cookie is found among others, and none that only ends or begins like it.
func TestACookieIsFoundInTheHeader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		match string
		hits  []string
		lacks []string
	}{
		{`{"cookie": {"name": "can.ary", "exact": "a.b"}}`,
			[]string{"can.ary=a.b", "x=1; can.ary=a.b", "can.ary=a.b; x=1", "a=1;can.ary=a.b ; b=2"},
			[]string{"xcan.ary=a.b", "can.ary=a.bc", "canxary=a.b", "can.ary=axb", "x=can.ary=a.b", ""}},
		{`{"cookie": {"name": "g", "regex": "a|b"}}`, []string{"g=a", "x=1; g=b"}, []string{"g=ab", "g=c", "hg=a"}},
	} {
		var m config.Match
		require.NoError(t, json.Unmarshal([]byte(tt.match), &m))
		whole := regexp.MustCompile("^(?:" + m.Expression() + ")$")
		anywhere := regexp.MustCompile(m.Expression())
		for _, header := range tt.hits {
			require.True(t, whole.MatchString(header) && anywhere.MatchString(header), header)
		}
		for _, header := range tt.lacks {
			require.False(t, whole.MatchString(header) || anywhere.MatchString(header), header)
		}
	}
}

// A backtick would end a text of Traefik.
func TestAnExpressionOfTraefikIsQuoted(t *testing.T) {
	t.Parallel()
	app, from := application(t), load(t, "ingress")
	app.TrafficRouting.Method = config.MethodTraefik
	made := route(t, app, from, steered(t, "{\"match\": [{\"header\": {\"name\": \"x\", \"exact\": \"a`b\"}}]}"))
	text, err := manifest.Text(made[0].Object)
	require.NoError(t, err)
	require.Contains(t, strings.ReplaceAll(text, `\`, ""), "Header(`x`, \"a`b\")")
}
