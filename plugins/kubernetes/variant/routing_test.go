// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// routed is an application that routes by Istio, and its manifests.
func routed(t *testing.T) (*config.Application, []manifest.Manifest) {
	t.Helper()
	all, err := manifest.NewLoader().Load(t.Context(), manifest.Request{Dir: filepath.Join("testdata", "routed")})
	require.NoError(t, err)
	app := application(t)
	app.TrafficRouting.Method = config.MethodIstio
	return app, all
}

func TestTheRoutedObjectsLookAsInTheGoldenFiles(t *testing.T) {
	t.Parallel()
	one := func(m manifest.Manifest, err error) ([]manifest.Manifest, error) { return []manifest.Manifest{m}, err }
	tests := map[string]func(*config.Application, []manifest.Manifest) ([]manifest.Manifest, error){
		"routed-service-canary": func(app *config.Application, m []manifest.Manifest) ([]manifest.Manifest, error) {
			return one(variant.RouteService(m, app, "canary"))
		},
		"routed-istio-primary": func(app *config.Application, m []manifest.Manifest) ([]manifest.Manifest, error) {
			return one(variant.RouteVirtualService(m, app, config.Traffic{Primary: 100}))
		},
		"routed-istio-shares": func(app *config.Application, m []manifest.Manifest) ([]manifest.Manifest, error) {
			return one(variant.RouteVirtualService(m, app, config.Traffic{Primary: 34, Canary: 33, Baseline: 33}))
		},
		"routed-istio-editable-canary": func(app *config.Application, m []manifest.Manifest) ([]manifest.Manifest, error) {
			app.TrafficRouting.Istio.EditableRoutes = []string{"shared"}
			app.TrafficRouting.Istio.VirtualService.Name = "web"
			return one(variant.RouteVirtualService(m, app, config.Traffic{Canary: 100}))
		},
	}
	for name, route := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app, all := routed(t)
			got, err := route(app, all)
			require.NoError(t, err)
			golden(t, name, got)
			_, before := routed(t)
			require.Equal(t, before, all, "what is given stays as it is")
		})
	}
}

func TestWhatCannotBeRoutedByIstioIsAnError(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*config.Application){
		`no VirtualService named "x"`:                                         func(a *config.Application) { a.TrafficRouting.Istio.VirtualService.Name = "x" },
		`all.yaml:21: VirtualService prod/web has no HTTP route named "mian"`: func(a *config.Application) { a.TrafficRouting.Istio.EditableRoutes = []string{"main", "mian"} },
		"has a destination with the host nobody":                              func(a *config.Application) { a.Service.Name = "nobody" },
		"the weights of other hosts are more than 100":                        func(a *config.Application) { a.TrafficRouting.Istio.VirtualService.Name = "heavy" },
		"the weight many is not a whole number":                               func(a *config.Application) { a.TrafficRouting.Istio.VirtualService.Name = "odd" },
	} {
		app, all := routed(t)
		change(app)
		_, err := variant.RouteVirtualService(all, app, config.Traffic{Canary: 100})
		require.ErrorContains(t, err, want)
	}
}

func TestEveryWorkloadThatCannotBeSelectedIsNamed(t *testing.T) {
	t.Parallel()
	app, all := routed(t)
	err := variant.CheckSelectable(all, app)
	require.ErrorContains(t, err, "all.yaml:61: the pods' labels of Deployment prod/web must have pipecd.dev/variant: primary")
	require.ErrorContains(t, err, "the selector of Deployment prod/worker")
	made, err := variant.Primary(all, app, config.PrimaryOptions{AddVariantLabelToSelector: true})
	require.NoError(t, err)
	require.NoError(t, variant.CheckSelectable(made, app))
}

// Whatever stands in a VirtualService, routing does not crash, and what it has routed adds up.
func FuzzRouteVirtualService(f *testing.F) {
	f.Add("[{route: [{destination: {host: web}}]}]", 10, 20)
	f.Add("[{name: a, route: [{destination: {host: b}, weight: 20.0}, {destination: {host: web}, weight: 80}]}, {match: []}]", 100, 0)
	f.Add("[{route: [{destination: {host: web.prod.svc.cluster.local}, weight: 0}, 7, {destination: x}]}]", 0, 100)
	f.Fuzz(func(t *testing.T, routes string, canary, baseline int) {
		if canary < 0 || baseline < 0 || canary > 100 || baseline > 100-canary {
			return
		}
		text := "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: web, namespace: prod}\nspec: {http: " + routes + "}\n"
		all, err := manifest.Parse([]byte(text), "a.yaml")
		if err != nil {
			return
		}
		app := application(t)
		app.Service.Name = "web"
		m, err := variant.RouteVirtualService(all, app, config.Traffic{Primary: 100 - canary - baseline, Canary: canary, Baseline: baseline})
		if err != nil {
			return
		}
		routed := 0
		for _, route := range m.Object["spec"].(map[string]any)["http"].([]any) {
			sum, ours := int64(0), false
			destinations, _ := route.(map[string]any)["route"].([]any)
			for _, d := range destinations {
				destination, ok := d.(map[string]any)
				if !ok {
					continue
				}
				to, _ := destination["destination"].(map[string]any)
				_, hasSubset := to["subset"].(string)
				ours = ours || hasSubset
				switch weight := destination["weight"].(type) {
				case int64:
					sum += weight
				case float64:
					sum += int64(weight)
				}
			}
			if ours && sum == 100 {
				routed++
			}
		}
		require.Positive(t, routed)
	})
}
