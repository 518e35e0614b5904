// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	// ingressGroup is the API group of Ingresses.
	ingressGroup = "networking.k8s.io"
	// nginxPrefix begins the annotations of ingress-nginx.
	nginxPrefix = "nginx.ingress.kubernetes.io/"
	// classAnnotation is the old way to say which controller serves an Ingress.
	classAnnotation = "kubernetes.io/ingress.class"
)

// nginxOfCanary are the beginnings of the annotations that ingress-nginx reads of a canary. It takes others from the
// Ingress that the canary is for.
var nginxOfCanary = []string{"affinity", "session-cookie-", "load-balance", "upstream-hash-by"}

// Ingress returns the Ingress that gets a canary: the one that is referred to, or the first.
func Ingress(manifests []manifest.Manifest, app *config.Application) (manifest.Manifest, error) {
	return routeNamed(manifests, ingressGroup, manifest.KindIngress, app.TrafficRouting.Nginx.Ingress.Name,
		"trafficRouting.nginx.ingress.name")
}

// CanaryIngress returns the Ingress that sends requests to the canary's Service by the annotations of ingress-nginx:
// next to the Ingress of the manifests, with its hosts and those of its paths that lead to the primary's Service. It
// sends none when the canary gets no traffic: then it is not to be in the cluster.
func CanaryIngress(manifests []manifest.Manifest, app *config.Application, services config.VariantServices,
	traffic config.Traffic) (manifest.Manifest, error) {
	found, err := Ingress(manifests, app)
	if err != nil {
		return found, err
	}
	primary, err := RouteService(manifests, app, app.VariantLabel.PrimaryValue)
	if err != nil {
		return found, err
	}
	m := found.Clone()
	m.SetName(withSuffix(m.GetName(), cmp.Or(services.Canary, config.DefaultCanaryValue)))
	m.SetAnnotations(canaryAnnotations(found.GetAnnotations(), traffic))
	manifest.RemoveExclusion(m) // the copy has to go with its variant
	rules, _, err := unstructured.NestedSlice(found.Object, "spec", "rules")
	if err != nil {
		return found, fmt.Errorf("%s: spec.rules of %s: %w", found.Origin.At("spec.rules"), found.Key().Human(), err)
	}
	var kept []any
	for _, item := range rules {
		rule, _ := item.(map[string]any)
		if leadTo(rule, primary.GetName(), services.Names(primary.GetName())[canaryIndex]) {
			kept = append(kept, rule)
		}
	}
	if len(kept) == 0 {
		return found, fmt.Errorf("%s: no path of %s leads to the Service %s: write one into spec.rules, or name the "+
			"Service in service.name", found.Origin.At("spec.rules"), found.Key().Human(), primary.GetName())
	}
	spec := map[string]any{"rules": kept}
	if class, found, _ := unstructured.NestedString(m.Object, "spec", "ingressClassName"); found {
		spec["ingressClassName"] = class
	}
	m.Object["spec"] = spec
	return m, nil
}

// leadTo keeps the paths of a rule that lead to a Service, and makes them lead to another; it reports whether there are
// any.
func leadTo(rule map[string]any, from, to string) bool {
	paths, _, _ := unstructured.NestedSlice(rule, "http", "paths")
	paths = slices.DeleteFunc(paths, func(item any) bool {
		path, _ := item.(map[string]any)
		name, _, _ := unstructured.NestedString(path, "backend", "service", "name")
		return name != from || unstructured.SetNestedField(path, to, "backend", "service", "name") != nil
	})
	return len(paths) > 0 && unstructured.SetNestedSlice(rule, paths, "http", "paths") == nil
}

// canaryAnnotations are those of a canary Ingress.
func canaryAnnotations(given map[string]string, traffic config.Traffic) map[string]string {
	made := map[string]string{
		nginxPrefix + "canary":        "true",
		nginxPrefix + "canary-weight": strconv.Itoa(traffic.Canary),
	}
	for name, value := range given {
		own, ofNginx := strings.CutPrefix(name, nginxPrefix)
		isRead := func(start string) bool { return strings.HasPrefix(own, start) }
		if name == classAnnotation || ofNginx && slices.ContainsFunc(nginxOfCanary, isRead) {
			made[name] = value
		}
	}
	for _, m := range traffic.Match {
		switch {
		case m.Cookie != nil: // its value is always config.NginxCookieValue
			made[nginxPrefix+"canary-by-cookie"] = m.Cookie.Name
		case m.Header.Exact != "":
			made[nginxPrefix+"canary-by-header"] = m.Header.Name
			made[nginxPrefix+"canary-by-header-value"] = m.Header.Exact
		default:
			made[nginxPrefix+"canary-by-header"] = m.Header.Name
			made[nginxPrefix+"canary-by-header-pattern"] = "^(?:" + m.Header.Regex + ")$"
		}
	}
	return made
}

// routeNamed returns the manifest of a kind that has the name, or the first without a name; setting is where the name
// comes from.
func routeNamed(manifests []manifest.Manifest, group, kind, name, setting string) (manifest.Manifest, error) {
	for _, m := range manifests {
		if m.GetKind() == kind && m.GroupVersionKind().Group == group && (name == "" || m.GetName() == name) {
			return m, nil
		}
	}
	if name != "" {
		return manifest.Manifest{}, fmt.Errorf("there is no %s named %q of %s among the manifests (%s)", kind, name,
			group, setting)
	}
	return manifest.Manifest{}, fmt.Errorf("there is no %s of %s among the manifests: add one that sends traffic to "+
		"the Service, or set trafficRouting.method: %s", kind, group, config.MethodPodSelector)
}
