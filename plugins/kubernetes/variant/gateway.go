// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	// gatewayGroup is the API group of HTTPRoutes and GRPCRoutes.
	gatewayGroup = "gateway.networking.k8s.io"
	// maxWeight is the largest weight of a backend (Gateway API).
	maxWeight = 1_000_000
)

// Routes returns the manifest that shares traffic out by the application's method: a VirtualService, a route of the
// Gateway API or one of Traefik.
func Routes(manifests []manifest.Manifest, app *config.Application) (manifest.Manifest, error) {
	switch app.TrafficRouting.Method {
	case config.MethodGateway:
		return Route(manifests, app)
	case config.MethodTraefik:
		return IngressRoute(manifests, app)
	}
	return VirtualService(manifests, app)
}

// Route returns the manifest whose rules are changed: the HTTPRoute or GRPCRoute that is referred to, or the first.
func Route(manifests []manifest.Manifest, app *config.Application) (manifest.Manifest, error) {
	ref := app.TrafficRouting.Gateway.Route
	kind := cmp.Or(ref.Kind, config.KindHTTPRoute)
	for _, m := range manifests {
		if m.GetKind() == kind && m.GroupVersionKind().Group == gatewayGroup &&
			(ref.Name == "" || m.GetName() == ref.Name) {
			return m, nil
		}
	}
	if ref.Name != "" {
		return manifest.Manifest{}, fmt.Errorf("there is no %s named %q of %s among the manifests "+
			"(trafficRouting.gateway.route)", kind, ref.Name, gatewayGroup)
	}
	return manifest.Manifest{},
		fmt.Errorf("there is no %s of %s among the manifests: add one that sends traffic to the Service, or set "+
			"trafficRouting.method: %s",
			kind, gatewayGroup, config.MethodPodSelector)
}

// RouteGateway returns the route with the variants' shares of traffic: in each editable rule the backends that are no
// variant keep their part, and those that are share the rest. The primary is the Service that `service` refers to, or
// the first, which has to select the primary alone; the others are its copies that the pipeline makes. Rules without a
// backend of the Service stay as they are. See backends.rule for what is asked for besides shares.
func RouteGateway(manifests []manifest.Manifest, app *config.Application, services config.VariantServices,
	traffic config.Traffic) (manifest.Manifest, error) {
	found, err := Route(manifests, app)
	if err != nil {
		return found, err
	}
	primary, err := RouteService(manifests, app, app.VariantLabel.PrimaryValue)
	if err != nil {
		return found, err
	}
	m := found.Clone()
	spec, _ := m.Object["spec"].(map[string]any)
	rules, _ := spec["rules"].([]any)
	split := backends{
		names:     services.Names(primary.GetName()),
		namespace: m.GetNamespace(),
		traffic:   traffic,
	}
	missing := slices.Clone(app.TrafficRouting.Gateway.EditableRules)
	changed := 0
	var added []any
	for i, item := range rules {
		rule, _ := item.(map[string]any)
		name, _ := rule["name"].(string)
		if editable := app.TrafficRouting.Gateway.EditableRules; len(editable) > 0 && !slices.Contains(editable, name) {
			continue
		}
		missing = slices.DeleteFunc(missing, func(n string) bool { return n == name })
		more, ok, err := split.rule(rule)
		if err != nil {
			return m, located(m, fmt.Sprintf("spec.rules[%d]", i), err)
		}
		if ok {
			added = append(added, more...)
			changed++
		}
	}
	if len(added) > 0 { // at the end: their place does not count, since their matches are narrower
		spec["rules"] = append(rules, added...)
	}
	switch {
	case len(missing) > 0:
		return m, fmt.Errorf("%s: %s has no rule named %q (trafficRouting.gateway.editableRules)",
			m.Origin.At("spec.rules"), m.Key().Human(), missing[0])
	case changed == 0:
		return m, fmt.Errorf("%s: no rule of %s that may be changed has the Service %s as a backend: write one, "+
			"or name the Service in service.name",
			m.Origin.At("spec.rules"), m.Key().Human(), primary.GetName())
	}
	return m, nil
}

// backends shares out the backends of a rule.
type backends struct {
	// names are the Services of primary, canary and baseline; empty where there is none.
	names     [3]string
	namespace string
	traffic   config.Traffic
}

// rule gives a rule its backends, and returns the rules that are needed next to it; ok is false when no backend is a
// variant.
func (b backends) rule(rule map[string]any) (added []any, ok bool, err error) {
	refs, _ := rule["backendRefs"].([]any)
	shared, own, err := b.share(refs)
	if err != nil {
		return nil, false, &fieldError{"backendRefs", err}
	}
	if own == nil {
		return nil, false, nil
	}
	if len(b.traffic.Match) > 0 {
		canary, err := b.canaryRule(rule, own)
		if err != nil {
			return nil, false, err
		}
		added = append(added, canary)
	}
	rule["backendRefs"] = shared
	b.mirror(rule, own.of[0].own)
	b.keepSessions(rule)
	return added, true, nil
}

// share returns a rule's backends again, and those of the Service in groups: nil when none is a variant.
func (b backends) share(refs []any) (shared []any, own *groups, err error) {
	own = &groups{isPrimary: b.isPrimary, form: formOfBackend}
	var variants []map[string]any
	var weights, otherWeights []int64
	var others []any
	for _, item := range refs {
		ref, _ := item.(map[string]any)
		weight, err := backendWeight(ref)
		if err != nil {
			return nil, nil, err
		}
		if b.isVariant(ref) {
			variants, weights = append(variants, ref), append(weights, weight)
		} else {
			others, otherWeights = append(others, item), append(otherWeights, weight*100)
		}
	}
	if len(variants) == 0 {
		return nil, nil, nil
	}
	own.add(variants, weights)
	weights = nil
	for i, part := range own.parts() { // without others there is nothing else that a part could be of
		if len(others) > 0 {
			part = own.of[i].weight
		}
		weights = append(weights, part*int64(b.traffic.Primary), part*int64(b.traffic.Canary),
			part*int64(b.traffic.Baseline))
	}
	weights = append(weights, otherWeights...)
	if len(others) > 0 {
		reduce(weights)
	}
	if slices.Max(weights) > maxWeight {
		return nil, nil, fmt.Errorf("the weights are too large to be shared out: the greatest would be %d, and "+
			"%d is allowed", slices.Max(weights), maxWeight)
	}
	for _, each := range own.of {
		for i, name := range b.names {
			if name != "" && b.shareOf(i) > 0 {
				shared = append(shared, withWeight(each.own, name, weights[i]))
			}
		}
		weights = weights[len(b.names):]
	}
	for i, other := range others {
		ref := runtime.DeepCopyJSON(other.(map[string]any))
		ref["weight"] = weights[i]
		shared = append(shared, ref)
	}
	return shared, own, nil
}

// withWeight is a backend with another name and weight.
func withWeight(backend map[string]any, name string, weight int64) map[string]any {
	made := runtime.DeepCopyJSON(backend)
	made["name"], made["weight"] = name, weight
	return made
}

// formOfBackend is a backend without what variants change.
func formOfBackend(backend map[string]any) map[string]any {
	form := maps.Clone(backend)
	delete(form, "name")
	delete(form, "weight")
	return form
}

// isPrimary reports whether a backend is the Service of the primary.
func (b backends) isPrimary(ref map[string]any) bool { return ref["name"] == b.names[primaryIndex] }

func (b backends) shareOf(variant int) int {
	return [...]int{b.traffic.Primary, b.traffic.Canary, b.traffic.Baseline}[variant]
}

// isVariant reports whether a backend is the Service of a variant.
func (b backends) isVariant(ref map[string]any) bool {
	group, _ := ref["group"].(string)
	kind, _ := ref["kind"].(string)
	name, _ := ref["name"].(string)
	namespace, _ := ref["namespace"].(string)
	return group == "" && cmp.Or(kind, manifest.KindService) == manifest.KindService && name != "" &&
		slices.Contains(b.names[:], name) &&
		(namespace == "" || namespace == b.namespace)
}

// backendWeight reads the weight of a backend, which is 1 when it is not given (Gateway API).
func backendWeight(ref map[string]any) (int64, error) {
	switch w := ref["weight"].(type) {
	case nil:
		if ref == nil {
			return 0, errors.New("a backend is not a mapping")
		}
		return 1, nil
	case int64:
		if w >= 0 && w <= maxWeight {
			return w, nil
		}
	}
	return 0, fmt.Errorf("the weight %v is not a whole number from 0 to %d", ref["weight"], maxWeight)
}

// reduce divides by what the numbers have in common, so that they are as small as they can be.
func reduce(numbers []int64) {
	common := int64(0)
	for _, n := range numbers {
		for n != 0 {
			common, n = n, common%n
		}
	}
	for i := range numbers {
		numbers[i] /= max(common, 1)
	}
}
