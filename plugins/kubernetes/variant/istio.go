// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// istioGroup is the API group of VirtualServices.
const istioGroup = "networking.istio.io"

// VirtualService returns the manifest whose routes are changed: the one that is referred to, or the first.
func VirtualService(manifests []manifest.Manifest, app *config.Application) (manifest.Manifest, error) {
	name := app.TrafficRouting.Istio.VirtualService.Name
	for _, m := range manifests {
		if m.GetKind() == config.KindVirtualService && m.GroupVersionKind().Group == istioGroup &&
			(name == "" || m.GetName() == name) {
			return m, nil
		}
	}
	if name != "" {
		return manifest.Manifest{}, fmt.Errorf("there is no VirtualService named %q of %s among the manifests "+
			"(trafficRouting.istio.virtualService.name)", name, istioGroup)
	}
	return manifest.Manifest{},
		fmt.Errorf("there is no VirtualService of %s among the manifests: add one that sends traffic to the "+
			"Service, or set trafficRouting.method: %s",
			istioGroup, config.MethodPodSelector)
}

// RouteVirtualService returns the VirtualService with the variants' shares of traffic: each editable HTTP route keeps
// the weights of other hosts, and the variants, as subsets of the host named by the values of the variant label, share
// the rest (PipeCD v1). Routes without a destination of the host stay as they are. See steer for what is asked for
// besides shares.
func RouteVirtualService(manifests []manifest.Manifest, app *config.Application,
	traffic config.Traffic) (manifest.Manifest, error) {
	found, err := VirtualService(manifests, app)
	if err != nil {
		return found, err
	}
	host, err := routedHost(manifests, app)
	if err != nil {
		return found, err
	}
	m := found.Clone()
	spec, _ := m.Object["spec"].(map[string]any)
	routes, _ := spec["http"].([]any)
	missing := slices.Clone(app.TrafficRouting.Istio.EditableRoutes)
	changed := 0
	var all []any
	for i, item := range routes {
		route, _ := item.(map[string]any)
		name, _ := route["name"].(string)
		if editable := app.TrafficRouting.Istio.EditableRoutes; len(editable) > 0 && !slices.Contains(editable, name) {
			all = append(all, item)
			continue
		}
		missing = slices.DeleteFunc(missing, func(n string) bool { return n == name })
		before, ok, err := routeTo(route, host, m.GetNamespace(), app.VariantLabel, traffic)
		if err != nil {
			return m, located(m, fmt.Sprintf("spec.http[%d]", i), err)
		}
		if ok {
			changed++
		}
		all = append(append(all, before...), item)
	}
	if changed > 0 {
		spec["http"] = all
	}
	switch {
	case len(missing) > 0:
		return m, fmt.Errorf("%s: %s has no HTTP route named %q (trafficRouting.istio.editableRoutes)",
			m.Origin.At("spec.http"), m.Key().Human(), missing[0])
	case changed == 0:
		return m, fmt.Errorf("%s: no HTTP route of %s that may be changed has a destination with the host %s: "+
			"write one, or name the Service in service.name",
			m.Origin.At("spec.http"), m.Key().Human(), host)
	}
	return m, nil
}

// routedHost is the host of the variants.
func routedHost(manifests []manifest.Manifest, app *config.Application) (string, error) {
	if host := cmp.Or(app.Service.Name, app.TrafficRouting.Istio.Host); host != "" {
		return host, nil
	}
	s, err := service(manifests, app.Service)
	if err != nil {
		return "", fmt.Errorf("the host whose traffic is routed is not known: %w; name it in service.name", err)
	}
	return s.GetName(), nil
}

// splitRoute returns a route's destinations again, and those of the host in groups: nil when none is of the host.
func splitRoute(destinations []any, host, namespace string, label config.VariantLabel,
	traffic config.Traffic) (split []any, own *groups, err error) {
	var variants []map[string]any
	var variantWeights []int64
	var others []any
	rest := int64(100)
	for _, item := range destinations {
		d, _ := item.(map[string]any)
		weight, err := weightOf(d, len(destinations))
		destination, _ := d["destination"].(map[string]any)
		name, _ := destination["host"].(string)
		if isHost(name, host, namespace) {
			variants, variantWeights = append(variants, d), append(variantWeights, weight)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		rest -= weight
		others = append(others, item)
	}
	switch {
	case len(variants) == 0:
		return nil, nil, nil
	case rest < 0:
		return nil, nil, errors.New("the weights of other hosts are more than 100")
	}
	own = &groups{form: formOfDestination, isPrimary: func(d map[string]any) bool {
		subset := d["destination"].(map[string]any)["subset"]
		return subset != label.CanaryValue && subset != label.BaselineValue
	}}
	own.add(variants, variantWeights)
	for g, part := range shareOut(rest, own.parts()) {
		shares := weights(traffic, part)
		for i, subset := range []string{label.PrimaryValue, label.CanaryValue, label.BaselineValue} {
			if shares[i] == 0 && (i > 0 || traffic.Primary == 0 && part > 0) {
				continue
			}
			split = append(split, toSubset(own.of[g].own, subset, shares[i]))
		}
	}
	return append(split, others...), own, nil
}

// toSubset is a destination with another subset and weight.
func toSubset(d map[string]any, subset string, weight int64) map[string]any {
	made := runtime.DeepCopyJSON(d)
	made["destination"].(map[string]any)["subset"], made["weight"] = subset, weight
	return made
}

// formOfDestination is a destination without what variants change.
func formOfDestination(d map[string]any) map[string]any {
	form := runtime.DeepCopyJSON(d)
	delete(form, "weight")
	destination := form["destination"].(map[string]any)
	delete(destination, "subset")
	delete(destination, "host") // short or in full, it is the same
	return form
}

// weights shares out whole numbers; what rounding leaves goes to the first variant that has any traffic.
func weights(traffic config.Traffic, total int64) [3]int64 {
	percents := [3]int{traffic.Primary, traffic.Canary, traffic.Baseline}
	var shares [3]int64
	left, first := total, -1
	for i, p := range percents {
		shares[i] = total * int64(p) / 100
		left -= shares[i]
		if p > 0 && first < 0 {
			first = i
		}
	}
	shares[max(0, first)] += left
	return shares
}

// weightOf reads the weight of a destination: without one, a destination that is alone gets everything (Istio).
func weightOf(d map[string]any, destinations int) (int64, error) {
	switch w := d["weight"].(type) {
	case nil:
		if destinations == 1 {
			return 100, nil
		}
		return 0, nil
	case int64:
		if w >= 0 && w <= 100 {
			return w, nil
		}
	case float64:
		if w >= 0 && w <= 100 && w == float64(int64(w)) {
			return int64(w), nil
		}
	}
	return 0, fmt.Errorf("the weight %v is not a whole number from 0 to 100", d["weight"])
}

// isHost compares hosts, of which each may be the short or the full name of a Service. A short one is in the namespace;
// an empty namespace stands for any.
func isHost(written, host, namespace string) bool {
	if written == host {
		return true
	}
	one, isOne := serviceOf(written, namespace)
	other, isOther := serviceOf(host, namespace)
	return isOne && isOther && one.name == other.name &&
		(one.namespace == other.namespace || one.namespace == "" || other.namespace == "")
}

// serviceHost is the Service that a host names.
type serviceHost struct{ name, namespace string }

// serviceOf reads a host: "web", "web.shop", "web.shop.svc" or "web.shop.svc.cluster.local". ok is false for one that
// names no Service.
func serviceOf(host, namespace string) (s serviceHost, ok bool) {
	name, rest, full := strings.Cut(host, ".")
	if !full {
		return serviceHost{name, namespace}, name != ""
	}
	in, domain, _ := strings.Cut(rest, ".")
	return serviceHost{name, in}, name != "" && in != "" &&
		(domain == "" || domain == "svc" || strings.HasPrefix(domain, "svc."))
}
