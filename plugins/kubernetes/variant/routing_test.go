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
		"routed-istio-editable-canary": func(app *config.Application, m []manifest.Manifest) ([]manifest.Manifest,
			error) {
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

func TestAHostMayBeWrittenInFull(t *testing.T) {
	t.Parallel()
	for host, isOwn := range map[string]map[string]bool{
		"web": {"": true, "shop": true}, "web.shop": {"": true, "shop": true, "other": false},
		"web.shop.svc.cluster.local": {"": true, "shop": true, "other": false},
		"web.shop.svc":               {"": true, "shop": true}, "web.example.com": {"": false, "example": false},
		"webs.shop.svc": {"": false, "shop": false}, "web.": {"": false},
	} {
		for namespace, own := range isOwn {
			parsed, err := manifest.Parse([]byte("apiVersion: networking.istio.io/v1\nkind: VirtualService\n"+
				"metadata: {name: web, namespace: '"+namespace+"'}\n"+
				"spec: {http: [{route: [{destination: {host: "+host+"}}]}]}\n"), "a.yaml")
			require.NoError(t, err)
			app := application(t)
			app.Service.Name = "web"
			_, err = variant.RouteVirtualService(parsed, app, config.Traffic{Primary: 70, Canary: 30})
			require.Equal(t, own, err == nil, "%s in namespace %q: %v", host, namespace, err)
		}
	}
}

func TestTheNameOfTheServiceMayBeWrittenInFull(t *testing.T) {
	t.Parallel()
	const services = "---\napiVersion: v1\nkind: Service\nmetadata: {name: api}\n---\napiVersion: v1\nkind: Service\n" +
		"metadata: {name: web}\nspec: {selector: {app: web}}\n"
	for name, hosts := range map[string]map[string]bool{
		"web.shop.svc.cluster.local": {"web": true, "web.shop": true, "web.shop.svc": true, "api": false,
			"web.other": false, "web.shop.svc.cluster.local": true, "web.example.com": false},
		"web.shop":  {"web": true, "web.shop.svc.cluster.local": true, "web.other": false},
		"web.other": {"web": false, "web.other.svc.cluster.local": true},
	} {
		for host, own := range hosts {
			parsed, err := manifest.Parse([]byte("apiVersion: networking.istio.io/v1\nkind: VirtualService\n"+
				"metadata: {name: web, namespace: shop}\nspec: {http: [{route: [{destination: {host: "+host+"}}]}]}\n"+
				services), "a.yaml")
			require.NoError(t, err)
			app := application(t)
			app.Service.Name = name
			app.TrafficRouting.Method = config.MethodIstio
			_, err = variant.RouteVirtualService(parsed, app, config.Traffic{Primary: 70, Canary: 30})
			require.Equal(t, own, err == nil, "%s is %s: %v", name, host, err)
			copies, err := variant.Primary(parsed, app, config.PrimaryOptions{CreateService: true, Suffix: "primary"})
			require.NoError(t, err)
			require.Equal(t, "web-primary", copies[len(copies)-1].GetName())
		}
	}
}

func TestWhatCannotBeRoutedByIstioIsAnError(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*config.Application){
		`no VirtualService named "x"`: func(a *config.Application) {
			a.TrafficRouting.Istio.VirtualService.Name = "x"
		},
		`all.yaml:21: VirtualService prod/web has no HTTP route named "mian"`: func(a *config.Application) {
			a.TrafficRouting.Istio.EditableRoutes = []string{"main", "mian"}
		},
		"has a destination with the host absent": func(a *config.Application) {
			a.Service.Name = "absent"
		},
		"the weights of other hosts are more than 100": func(a *config.Application) {
			a.TrafficRouting.Istio.VirtualService.Name = "heavy"
		},
		"the weight many is not a whole number": func(a *config.Application) {
			a.TrafficRouting.Istio.VirtualService.Name = "odd"
		},
	} {
		app, all := routed(t)
		change(app)
		_, err := variant.RouteVirtualService(all, app, config.Traffic{Canary: 100})
		require.ErrorContains(t, err, want)
	}
}

func TestTheSharesOfAGatewayLookAsInTheGoldenFiles(t *testing.T) {
	t.Parallel()
	both := config.VariantServices{Canary: "canary", Baseline: "b"}
	for name, tt := range map[string]struct {
		change   func(*config.Application)
		services config.VariantServices
		traffic  config.Traffic
	}{
		"routed-gateway-primary": {traffic: config.Traffic{Primary: 100}},
		"routed-gateway-shares":  {traffic: config.Traffic{Primary: 60, Canary: 30, Baseline: 10}, services: both},
		"routed-gateway-editable": {traffic: config.Traffic{Canary: 100}, services: both,
			change: func(a *config.Application) {
				a.TrafficRouting.Gateway.EditableRules = []string{"shared"}
			}},
		"routed-gateway-grpc": {traffic: config.Traffic{Primary: 50, Canary: 50}, services: both,
			change: func(a *config.Application) {
				a.TrafficRouting.Gateway.Route = config.Reference{Kind: "GRPCRoute", Name: "rpc"}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app, all := application(t), load(t, "gateway")
			app.TrafficRouting.Method = config.MethodGateway
			if tt.change != nil {
				tt.change(app)
			}
			got, err := variant.RouteGateway(all, app, tt.services, tt.traffic)
			require.NoError(t, err)
			golden(t, name, []manifest.Manifest{got})
			require.Equal(t, load(t, "gateway"), all, "what is given stays as it is")
		})
	}
}

func TestWhatCannotBeRoutedByAGatewayIsAnError(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*config.Application){
		`no HTTPRoute named "x"`: func(a *config.Application) {
			a.TrafficRouting.Gateway.Route.Name = "x"
		},
		`HTTPRoute web has no rule named "mian"`: func(a *config.Application) {
			a.TrafficRouting.Gateway.EditableRules = []string{"main", "mian"}
		},
		"all.yaml:11: the selector of Service unlabelled must have " +
			"pipecd.dev/variant: primary": func(a *config.Application) {
			a.Service.Name = "unlabelled"
		},
		"no rule of HTTPRoute elsewhere that may be changed has the Service web": func(a *config.Application) {
			a.TrafficRouting.Gateway.Route.Name = "elsewhere"
		},
		"spec.rules[0].backendRefs of HTTPRoute odd: the weight -1 is not a whole number": func(a *config.Application) {
			a.TrafficRouting.Gateway.Route.Name = "odd"
		},
		"the weights are too large to be shared out": func(a *config.Application) {
			a.TrafficRouting.Gateway.Route.Name = "large"
		},
	} {
		app := application(t)
		app.TrafficRouting.Method = config.MethodGateway
		change(app)
		_, err := variant.RouteGateway(load(t, "gateway"), app, config.VariantServices{Canary: "canary"},
			config.Traffic{Primary: 1, Canary: 99})
		require.ErrorContains(t, err, want)
	}
}

// shares are shares, and for some also a match and copies.
func shares(canary, baseline int) config.Traffic {
	traffic := config.Traffic{Primary: 100 - canary - baseline, Canary: canary, Baseline: baseline}
	if canary%2 == 0 {
		traffic.Match = []config.Match{{Header: &config.NamedValue{Name: "X-A", Exact: "1"}}}
		traffic.Mirror = &config.Mirror{}
	}
	return traffic
}

// Whatever stands in an HTTPRoute, routing does not crash, and the shares of a rule with variants alone are
// percentages.
func FuzzRouteGateway(f *testing.F) {
	f.Add("[{backendRefs: [{name: web, port: 80}]}]", 10, 20)
	f.Add("[{name: a, backendRefs: [{name: b, weight: 20}, {name: web-canary, weight: 0}, {name: web, kind: "+
		"Service, weight: 7}]}, {matches: []}]", 100, 0)
	f.Add("[{backendRefs: [{name: web, group: x.io}, 7, {name: web, weight: 1000000}, {weight: 1000000}]}]", 0, 100)
	f.Fuzz(func(t *testing.T, rules string, canary, baseline int) {
		if canary < 0 || baseline < 0 || canary > 100 || baseline > 100-canary {
			return
		}
		text := "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n" +
			"spec: {selector: {pipecd.dev/variant: primary}}\n---\n" +
			"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web}\nspec: {rules: " + rules +
			"}\n"
		all, err := manifest.Parse([]byte(text), "a.yaml")
		if err != nil {
			return
		}
		app := application(t)
		m, err := variant.RouteGateway(all, app, config.VariantServices{Canary: "canary", Baseline: "baseline"},
			shares(canary, baseline))
		if err != nil {
			return
		}
		for _, rule := range m.Object["spec"].(map[string]any)["rules"].([]any) {
			fields, _ := rule.(map[string]any)
			refs, _ := fields["backendRefs"].([]any)
			for _, item := range refs {
				ref, _ := item.(map[string]any)
				if weight, ok := ref["weight"].(int64); ok {
					require.LessOrEqual(t, weight, int64(1_000_000))
					require.GreaterOrEqual(t, weight, int64(0))
				}
			}
		}
	})
}

func TestEveryWorkloadThatCannotBeSelectedIsNamed(t *testing.T) {
	t.Parallel()
	app, all := routed(t)
	err := variant.CheckSelectable(all, app)
	require.ErrorContains(t, err, "all.yaml:61: the pods' labels of Deployment prod/web must have "+
		"pipecd.dev/variant: primary")
	require.ErrorContains(t, err, "the selector of Deployment prod/worker")
	made, err := variant.Primary(all, app, config.PrimaryOptions{AddVariantLabelToSelector: true})
	require.NoError(t, err)
	require.NoError(t, variant.CheckSelectable(made, app))
}

// Whatever stands in a VirtualService, routing does not crash, and what it has routed adds up.
func FuzzRouteVirtualService(f *testing.F) {
	f.Add("[{route: [{destination: {host: web}}]}]", 10, 20)
	f.Add("[{name: a, route: [{destination: {host: b}, weight: 20.0}, {destination: {host: web}, weight: 80}]}, "+
		"{match: []}]", 100, 0)
	f.Add("[{route: [{destination: {host: web.prod.svc.cluster.local}, weight: 0}, 7, {destination: x}]}]", 0, 100)
	f.Fuzz(func(t *testing.T, routes string, canary, baseline int) {
		if canary < 0 || baseline < 0 || canary > 100 || baseline > 100-canary {
			return
		}
		text := "apiVersion: networking.istio.io/v1\nkind: VirtualService\n" +
			"metadata: {name: web, namespace: prod}\nspec: {http: " + routes + "}\n"
		all, err := manifest.Parse([]byte(text), "a.yaml")
		if err != nil {
			return
		}
		app := application(t)
		app.Service.Name = "web"
		m, err := variant.RouteVirtualService(all, app,
			shares(canary, baseline))
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
