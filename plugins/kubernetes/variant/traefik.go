// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// traefikGroup is the API group of IngressRoutes.
const traefikGroup = "traefik.io"

// IngressRoute returns the manifest whose routes are changed: the one that is referred to, or the first.
func IngressRoute(manifests []manifest.Manifest, app *config.Application) (manifest.Manifest, error) {
	return routeNamed(manifests, traefikGroup, config.KindIngressRoute, app.TrafficRouting.Traefik.IngressRoute.Name,
		"trafficRouting.traefik.ingressRoute.name")
}

// RouteTraefik returns the IngressRoute with the variants' shares of traffic, as RouteGateway does for a route of the
// Gateway API, and the TraefikServices that it names for copies of requests and cookies.
func RouteTraefik(manifests []manifest.Manifest, app *config.Application, services config.VariantServices,
	traffic config.Traffic) (m manifest.Manifest, added []manifest.Manifest, err error) {
	found, err := IngressRoute(manifests, app)
	if err != nil {
		return found, nil, err
	}
	primary, err := RouteService(manifests, app, app.VariantLabel.PrimaryValue)
	if err != nil {
		return found, nil, err
	}
	m = found.Clone()
	spec, _ := m.Object["spec"].(map[string]any)
	routes, _ := spec["routes"].([]any)
	t := traefik{
		backends: backends{names: services.Names(primary.GetName()), namespace: m.GetNamespace(), traffic: traffic},
		of:       m,
	}
	changed := 0
	for i, item := range routes {
		route, _ := item.(map[string]any)
		canary, ok, err := t.route(route, i)
		if err != nil {
			return m, nil, located(m, fmt.Sprintf("spec.routes[%d]", i), err)
		}
		if ok {
			changed++
		}
		if canary != nil {
			spec["routes"] = append(spec["routes"].([]any), canary)
		}
	}
	if changed == 0 {
		return m, nil, fmt.Errorf("%s: no route of %s has the Service %s: write one, or name the Service in "+
			"service.name", m.Origin.At("spec.routes"), m.Key().Human(), primary.GetName())
	}
	return m, t.added, nil
}

// traefik changes the routes of an IngressRoute.
type traefik struct {
	backends
	of    manifest.Manifest
	added []manifest.Manifest
}

// route gives a route its services, and returns the route for the requests that go to the canary in any case; ok is
// false when no service is a variant.
func (t *traefik) route(route map[string]any, index int) (canary map[string]any, ok bool, err error) {
	refs, _ := route["services"].([]any)
	shared, own, err := t.share(refs)
	if err != nil {
		return nil, false, &fieldError{"services", err}
	}
	if own == nil {
		return nil, false, nil
	}
	if len(t.traffic.Match) > 0 {
		canary = t.canaryRoute(route, own)
	}
	if s := t.traffic.SessionAffinity; s != nil && len(shared) > 1 {
		shared = t.add(index, sharesName, map[string]any{"weighted": map[string]any{
			"services": shared, "sticky": map[string]any{"cookie": map[string]any{"name": s.Cookie}},
		}})
	}
	if mirror := t.traffic.Mirror; mirror != nil {
		if len(shared) > 1 {
			shared = t.add(index, sharesName, map[string]any{"weighted": map[string]any{"services": shared}})
		}
		copies := t.to(own.of[0].own, mirror.Variant())
		copies["percent"] = int64(mirror.Share())
		mirroring := runtime.DeepCopyJSON(shared[0].(map[string]any))
		delete(mirroring, "weight")
		mirroring["mirrors"] = []any{copies}
		shared = t.add(index, copiesName, map[string]any{"mirroring": mirroring})
	}
	route["services"] = shared
	return canary, true, nil
}

// canaryRoute returns a copy of a route for the requests of the matches. It has precedence over the route, as Traefik
// prefers the longer of two expressions unless there are priorities.
func (t *traefik) canaryRoute(route map[string]any, own *groups) map[string]any {
	made := runtime.DeepCopyJSON(route)
	exact, regex := "Header", "HeaderRegexp"
	if route["syntax"] == "v2" {
		exact, regex = "Headers", "HeadersRegexp"
	}
	var wanted []string
	for _, m := range t.traffic.Match {
		switch {
		case m.Cookie != nil:
			wanted = append(wanted, call(regex, "Cookie", m.Expression()))
		case m.Header.Exact != "":
			wanted = append(wanted, call(exact, m.Header.Name, m.Header.Exact))
		default:
			wanted = append(wanted, call(regex, m.Header.Name, "^(?:"+m.Header.Regex+")$"))
		}
	}
	written, _ := route["match"].(string)
	made["match"] = "(" + written + ") && (" + strings.Join(wanted, " || ") + ")"
	if priority, ok := route["priority"].(int64); ok && priority > 0 {
		made["priority"] = priority + 1
	}
	if len(own.of) == 1 {
		made["services"] = []any{t.to(own.of[0].own, canaryIndex)}
		return made
	}
	var services []any
	for i, part := range own.parts() {
		services = append(services, withWeight(own.of[i].own, t.names[canaryIndex], part))
	}
	made["services"] = services
	return made
}

// call writes a matcher of Traefik.
func call(matcher string, arguments ...string) string {
	for i, argument := range arguments {
		if arguments[i] = "`" + argument + "`"; strings.Contains(argument, "`") {
			arguments[i] = strconv.Quote(argument)
		}
	}
	return matcher + "(" + strings.Join(arguments, ", ") + ")"
}

// to is a service of a route, of another variant and without a weight.
func (t *traefik) to(own map[string]any, variant int) map[string]any {
	made := runtime.DeepCopyJSON(own)
	made["name"] = t.names[variant]
	delete(made, "weight")
	return made
}

// sharesName and copiesName are the last parts of the names of TraefikServices that a stage adds.
const sharesName, copiesName = "shares", "copies"

var addedNames = []string{sharesName, copiesName}

// add adds a TraefikService for a route, and returns it as the only service of the route.
func (t *traefik) add(index int, what string, spec map[string]any) []any {
	made := manifest.Manifest{Origin: t.of.Origin, Unstructured: &unstructured.Unstructured{Object: map[string]any{
		"spec": spec,
	}}}
	made.SetAPIVersion(t.of.GetAPIVersion())
	made.SetKind(manifest.KindTraefikService)
	made.SetName(fmt.Sprintf("%s-%d-%s", t.of.GetName(), index, what))
	made.SetNamespace(t.of.GetNamespace())
	t.added = append(t.added, made)
	return []any{map[string]any{"name": made.GetName(), "kind": manifest.KindTraefikService}}
}
