// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
)

// Methods of traffic routing.
const (
	MethodPodSelector = "podselector"
	MethodIstio       = "istio"
	// MethodGateway is the Gateway API. (Not in PipeCD v1.)
	MethodGateway = "gateway"
	// MethodNginx is a canary Ingress of ingress-nginx. (Not in PipeCD v1.)
	MethodNginx = "nginx"
	// MethodTraefik is an IngressRoute of Traefik. (Not in PipeCD v1.)
	MethodTraefik = "traefik"
)

// TrafficRouting says how traffic is split between the variants.
type TrafficRouting struct {
	// Method is the way to route. Default podselector. PipeCD knows podselector and istio.
	Method string `json:"method" jsonschema:"default=podselector"`
	// Istio says which routes of Istio are changed.
	Istio Istio `json:"istio"`
	// Gateway says which rules of a route of the Gateway API are changed. PipeCD does not read it.
	Gateway Gateway `json:"gateway"`
	// Nginx says which Ingress of ingress-nginx gets a canary. PipeCD does not read it.
	Nginx Nginx `json:"nginx"`
	// Traefik says which route of Traefik is changed. PipeCD does not read it.
	Traefik Traefik `json:"traefik"`
}

// Nginx says which Ingress gets a canary.
type Nginx struct {
	// Ingress is the Ingress. Default: the first one.
	Ingress Reference `json:"ingress"`
}

// Traefik says which route is changed.
type Traefik struct {
	// IngressRoute is the route. Default: the first one.
	IngressRoute Reference `json:"ingressRoute"`
}

// Gateway says which rules of a route are changed.
type Gateway struct {
	// EditableRules are the names of the rules that may be changed. Default: all that have a backend of the Service.
	EditableRules []string `json:"editableRules"`
	// Route is the HTTPRoute or GRPCRoute. Default: the first HTTPRoute.
	Route Reference `json:"route"`
}

// Istio says which routes are changed.
type Istio struct {
	// EditableRoutes are the names of the HTTP routes that may be changed. Default: all that have a destination of the
	// host.
	EditableRoutes []string `json:"editableRoutes"`
	// Host is the host of the variants, where service has no name. PipeCD does not read it.
	Host string `json:"host"`
	// VirtualService is the virtual service. Default: the first one.
	VirtualService Reference `json:"virtualService"`
}

// ExtendSchema says which methods there are.
func (TrafficRouting) ExtendSchema(schema map[string]any) {
	property, _ := schema["properties"].(object)["method"].(object)
	property["enum"] = []any{MethodPodSelector, MethodIstio, MethodGateway, MethodNginx, MethodTraefik, nil}
}

// ExtendSchema says which kinds of routes there are.
func (Gateway) ExtendSchema(schema map[string]any) {
	kindOf(schema, "route", KindHTTPRoute, KindGRPCRoute)
}

// ExtendSchema says which kind of routes there is.
func (Istio) ExtendSchema(schema map[string]any) {
	kindOf(schema, "virtualService", KindVirtualService)
}

// ExtendSchema says which kind of Ingress there is.
func (Nginx) ExtendSchema(schema map[string]any) {
	kindOf(schema, "ingress", KindIngress)
}

// ExtendSchema says which kind of routes there is.
func (Traefik) ExtendSchema(schema map[string]any) {
	kindOf(schema, "ingressRoute", KindIngressRoute)
}

// kindOf bounds the kind of a reference.
func kindOf(schema object, key string, kinds ...string) {
	property, _ := schema["properties"].(object)[key].(object)
	parts, _ := property["allOf"].([]any)
	allowed := []any{""}
	for _, kind := range kinds {
		allowed = append(allowed, kind)
	}
	property["allOf"] = append(parts, object{"properties": object{"kind": object{
		"enum": allowed, "patternErrorMessage": strings.Join(kinds, " or "),
	}}})
}

func (r *TrafficRouting) validate() (errs []error) {
	switch r.Method {
	case MethodPodSelector, MethodIstio, MethodGateway, MethodNginx, MethodTraefik:
	default:
		errs = append(errs, fmt.Errorf("trafficRouting.method: %q is not known; use %s, %s, %s, %s or %s", r.Method,
			MethodPodSelector, MethodIstio, MethodGateway, MethodNginx, MethodTraefik))
	}
	if kind := r.Gateway.Route.Kind; kind != "" && kind != KindHTTPRoute && kind != KindGRPCRoute {
		errs = append(errs, fmt.Errorf("trafficRouting.gateway.route.kind: %q cannot be routed by; use %s or %s", kind,
			KindHTTPRoute, KindGRPCRoute))
	}
	for _, only := range []struct{ field, given, kind string }{
		{"istio.virtualService", r.Istio.VirtualService.Kind, KindVirtualService},
		{"nginx.ingress", r.Nginx.Ingress.Kind, KindIngress},
		{"traefik.ingressRoute", r.Traefik.IngressRoute.Kind, KindIngressRoute},
	} {
		if only.given != "" && only.given != only.kind {
			errs = append(errs, fmt.Errorf("trafficRouting.%s.kind: %s is the only kind that can be routed by; leave "+
				"the kind out", only.field, only.kind))
		}
	}
	return errs
}

// Kinds of routes: Istio's, those of the Gateway API, that of Kubernetes and Traefik's.
const (
	KindVirtualService = "VirtualService"
	KindHTTPRoute      = "HTTPRoute"
	KindGRPCRoute      = "GRPCRoute"
	KindIngress        = "Ingress"
	KindIngressRoute   = "IngressRoute"
)
