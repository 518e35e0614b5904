// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

func TestALiveRouteShowsWhichVariantsItReaches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, spec     string
		canary, baseline bool
	}{
		"a selector": {config.MethodPodSelector, "selector: {pipecd.dev/variant: canary}", true, false},
		"a backend": {config.MethodGateway, "rules: [{backendRefs: [{name: web}, {name: web-b, weight: 1}]}]",
			false, true},
		"a backend that gets nothing": {config.MethodGateway, "rules: [{backendRefs: [{name: web-c, weight: 0}]}]",
			false, false},
		"a rule of that name": {config.MethodGateway, "rules: [{name: web-c, backendRefs: [{name: web}]}]", false,
			false},
		"copies": {config.MethodGateway, "rules: [{filters: [{requestMirror: {backendRef: {name: web-c}}}]}]", true,
			false},
		"a subset": {config.MethodIstio, "http: [{route: [{destination: {host: web, subset: canary}}]}]", true, false},
		"a subset that gets nothing": {config.MethodIstio,
			"http: [{route: [{destination: {host: web, subset: canary}, weight: 0}]}]", false, false},
		"copies for a subset": {config.MethodIstio, "http: [{mirror: {host: web, subset: baseline}}]", false, true},
		"a service":           {config.MethodTraefik, "routes: [{services: [{name: web-c}]}]", true, false},
		"a TraefikService": {config.MethodTraefik,
			"routes: [{services: [{name: web-12-copies, kind: TraefikService}]}]", true, false},
		"a TraefikService of the user": {config.MethodTraefik,
			"routes: [{services: [{name: web-x-copies, kind: TraefikService}]}]", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, err := manifest.Parse([]byte("kind: Any\napiVersion: v1\nmetadata: {name: web}\n"+
				"spec: {"+c.spec+"}"), "a.yaml")
			require.NoError(t, err)
			app := application(t)
			app.TrafficRouting.Method = c.method
			require.Equal(t, c.canary, variant.Reaches(parsed[0].Unstructured, app, "canary", "web-c"))
			require.Equal(t, c.baseline, variant.Reaches(parsed[0].Unstructured, app, "baseline", "web-b"))
			require.False(t, variant.Reaches(parsed[0].Unstructured, app, "other", ""))
		})
	}
}

func TestOtherRoutesOfTheServiceAreFound(t *testing.T) {
	t.Parallel()
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
	const gateway = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: "
	const ingress = "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: "
	const path = "}\nspec: {rules: [{http: {paths: [{backend: {service: {name: "
	const virtual = "---\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: "
	all, err := manifest.Parse([]byte(service+
		gateway+"HTTPRoute\nmetadata: {name: a}\nspec: {rules: [{backendRefs: [{name: web}]}]}\n"+
		gateway+"HTTPRoute\nmetadata: {name: b}\nspec: {rules: [{backendRefs: [{name: web}]}]}\n"+
		gateway+"GRPCRoute\nmetadata: {name: c}\nspec: {rules: [{backendRefs: [{name: web}]}]}\n"+
		gateway+"HTTPRoute\nmetadata: {name: d}\nspec: {rules: [{name: web, backendRefs: [{name: other}]}]}\n"+
		gateway+"HTTPRoute\nmetadata: {name: e}\nspec: {rules: [{backendRefs: [{name: web, namespace: other}]}]}\n"+
		ingress+"f"+path+"web}}}]}}]}\n"+ingress+"g"+path+"web}}}]}}]}\n"+ingress+"h"+path+"other}}}]}}]}\n"+
		virtual+"i}\nspec: {http: [{route: [{destination: {host: web}}]}]}\n"+
		virtual+"j}\nspec: {http: [{route: [{destination: {host: web.default.svc}}]}]}\n"+
		virtual+"k}\nspec: {http: [{route: [{destination: {host: other}}]}]}\n"), "a.yaml")
	require.NoError(t, err)
	for method, want := range map[string][]string{
		config.MethodGateway: {"b", "c"}, config.MethodNginx: {"g"}, config.MethodIstio: {"j"},
		config.MethodPodSelector: nil,
	} {
		app := application(t)
		app.TrafficRouting.Method = method
		others, err := variant.OtherRoutes(all, app)
		require.NoError(t, err)
		var names []string
		for _, m := range others {
			names = append(names, m.GetName())
		}
		require.Equal(t, want, names, method)
	}
}
