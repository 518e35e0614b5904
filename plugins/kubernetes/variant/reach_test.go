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
			parsed, err := manifest.Parse([]byte("kind: Any\napiVersion: v1\nmetadata: {name: web}\nspec: {"+c.spec+"}"),
				"a.yaml")
			require.NoError(t, err)
			app := application(t)
			app.TrafficRouting.Method = c.method
			require.Equal(t, c.canary, variant.Reaches(parsed[0].Unstructured, app, "canary", "web-c"))
			require.Equal(t, c.baseline, variant.Reaches(parsed[0].Unstructured, app, "baseline", "web-b"))
			require.False(t, variant.Reaches(parsed[0].Unstructured, app, "other", ""))
		})
	}
}
