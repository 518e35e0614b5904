// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Reaches reports whether a live object that traffic is routed by sends requests to a variant, be they copies. value is
// that of the variant label; service is the variant's Service, empty where it has none. An IngressRoute that names a
// TraefikService of a stage reaches the canary, because these objects leave with it.
func Reaches(live *unstructured.Unstructured, app *config.Application, value, service string) bool {
	spec := live.Object["spec"]
	switch app.TrafficRouting.Method {
	case config.MethodPodSelector:
		selected, _, _ := unstructured.NestedString(live.Object, "spec", "selector", app.VariantLabel.Key)
		return selected == value
	case config.MethodIstio:
		return anyBackend(spec, func(b map[string]any) bool {
			return b["host"] != nil && b["subset"] == value
		})
	}
	return anyBackend(spec, func(b map[string]any) bool {
		name, _ := b["name"].(string)
		return service != "" && name == service || b["kind"] == manifest.KindTraefikService &&
			value == app.VariantLabel.CanaryValue && isAddedName(name, live.GetName())
	})
}

// isAddedName reports whether a TraefikService has a name that traefik.add gives for a route.
func isAddedName(name, route string) bool {
	rest, ok := strings.CutPrefix(name, route+"-")
	index, what, _ := strings.Cut(rest, "-")
	return ok && index != "" && strings.Trim(index, "0123456789") == "" && slices.Contains(addedNames, what)
}

// backendFields hold what requests are sent to: in routes of the Gateway API, in those of Traefik, in Ingresses and in
// VirtualServices.
var backendFields = []string{
	"backendRefs", "backendRef", "services", "mirroring", "mirror", "mirrors", "service", "destination",
}

// anyBackend reports whether one of the backends in a part of a route is so. A backend with the weight 0 gets nothing.
func anyBackend(part any, is func(map[string]any) bool) bool {
	switch part := part.(type) {
	case []any:
		return slices.ContainsFunc(part, func(item any) bool { return anyBackend(item, is) })
	case map[string]any:
		if weight, ok := part["weight"].(int64); ok && weight == 0 {
			return false
		}
		for field, below := range part {
			if slices.Contains(backendFields, field) && isAmong(below, is) || anyBackend(below, is) {
				return true
			}
		}
	}
	return false
}

// isAmong reports whether a backend, or one of a list of them, is so.
func isAmong(value any, is func(map[string]any) bool) bool {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	return slices.ContainsFunc(list, func(item any) bool {
		backend, _ := item.(map[string]any)
		weight, weighted := backend["weight"].(int64)
		return backend != nil && (!weighted || weight > 0) && is(backend)
	})
}

// OtherRoutes returns the manifests that send requests to the routed Service, or host, next to the one that traffic is
// routed by: they stay as they are. Only those of the same API count: a Service may be behind several.
func OtherRoutes(manifests []manifest.Manifest, app *config.Application) (others []manifest.Manifest, err error) {
	if app.TrafficRouting.Method == config.MethodPodSelector {
		return nil, nil
	}
	chosen, err := chosenRoute(manifests, app)
	if err != nil {
		return nil, err
	}
	name, err := routedHost(manifests, app)
	if err != nil {
		return nil, err
	}
	routed, _ := serviceOf(name, "")
	for _, m := range manifests {
		if m.Key() == chosen.Key() || m.GroupVersionKind().Group != chosen.GroupVersionKind().Group ||
			!slices.Contains(routeKinds, m.GetKind()) || m.GetNamespace() != chosen.GetNamespace() {
			continue
		}
		leads := func(b map[string]any) bool {
			host, _ := b["host"].(string)
			namespace, _ := b["namespace"].(string)
			return b["name"] == routed.name && (namespace == "" || namespace == m.GetNamespace()) ||
				host != "" && isHost(host, name, m.GetNamespace())
		}
		if anyBackend(m.Object["spec"], leads) {
			others = append(others, m)
		}
	}
	return others, nil
}

// routeKinds lead requests to Services.
var routeKinds = []string{
	config.KindVirtualService, config.KindHTTPRoute, config.KindGRPCRoute, config.KindIngress, config.KindIngressRoute,
}

func chosenRoute(manifests []manifest.Manifest, app *config.Application) (manifest.Manifest, error) {
	if app.TrafficRouting.Method == config.MethodNginx {
		return Ingress(manifests, app)
	}
	return Routes(manifests, app)
}
