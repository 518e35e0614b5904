// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Methods of traffic routing.
const (
	MethodPodSelector = "podselector"
	MethodIstio       = "istio"
	// MethodGateway is the Gateway API. (Not in PipeCD v1.)
	MethodGateway = "gateway"
)

// TrafficRouting says how traffic is split between the variants.
type TrafficRouting struct {
	// Method is the way to route. Default podselector. PipeCD does not know gateway.
	Method string `json:"method" jsonschema:"enum=podselector,enum=istio,enum=gateway,default=podselector"`
	// Istio says which routes of Istio are changed.
	Istio Istio `json:"istio"`
	// Gateway says which rules of a route of the Gateway API are changed. PipeCD does not read it.
	Gateway Gateway `json:"gateway"`
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

// ExtendSchema says which kinds of routes there are.
func (Gateway) ExtendSchema(schema map[string]any) {
	kindOf(schema, "route", KindHTTPRoute, KindGRPCRoute)
}

// ExtendSchema says which kind of routes there is.
func (Istio) ExtendSchema(schema map[string]any) {
	kindOf(schema, "virtualService", KindVirtualService)
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

// Traffic is the share of each variant, in percent; together they are 100.
type Traffic struct{ Primary, Canary, Baseline int }

// String is how a user reads it: "primary 90%, canary 10%".
func (t Traffic) String() string {
	var parts []string
	for _, v := range []struct {
		name  string
		share int
	}{{"primary", t.Primary}, {"canary", t.Canary}, {"baseline", t.Baseline}} {
		if v.share > 0 {
			parts = append(parts, fmt.Sprintf("%s %d%%", v.name, v.share))
		}
	}
	return strings.Join(parts, ", ")
}

// trafficOptions are the `with` of K8S_TRAFFIC_ROUTING.
type trafficOptions struct {
	// All is the variant that gets all traffic.
	All string `json:"all" jsonschema:"enum=primary,enum=canary,enum=baseline"`
	// Primary is the percentage for primary. Default: what the others leave.
	Primary *percent `json:"primary"`
	// Canary is the percentage for canary. Default 0.
	Canary *percent `json:"canary"`
	// Baseline is the percentage for baseline. Default 0.
	Baseline *percent `json:"baseline"`
}

// ExtendSchema says what a stage needs, and that no traffic is lost.
func (trafficOptions) ExtendSchema(schema map[string]any) {
	var branches []any
	for _, key := range []string{"all", "primary", "canary", "baseline"} {
		branches = append(branches, object{"required": []string{key}})
	}
	schema["allOf"] = []any{object{"anyOf": branches}}
	schema["shares"] = []any{"primary", "canary", "baseline"}
}

// DecodeTraffic reads the `with` of K8S_TRAFFIC_ROUTING. The primary, when it is left out, gets what the others leave.
func DecodeTraffic(with []byte) (Traffic, error) {
	var o trafficOptions
	if err := decodeWith(StageTrafficRouting, with, &o); err != nil {
		return Traffic{}, err
	}
	given := o.Primary != nil || o.Canary != nil || o.Baseline != nil
	switch {
	case o.All != "" && given:
		return Traffic{}, fmt.Errorf("%s: with: give either all or percentages, not both", StageTrafficRouting)
	case o.All == DefaultPrimaryValue:
		return Traffic{Primary: 100}, nil
	case o.All == DefaultCanaryValue:
		return Traffic{Canary: 100}, nil
	case o.All == DefaultBaselineValue:
		return Traffic{Baseline: 100}, nil
	case o.All != "":
		return Traffic{}, fmt.Errorf("%s: with.all: %q is not a variant; use primary, canary or baseline",
			StageTrafficRouting, o.All)
	case !given:
		return Traffic{}, fmt.Errorf("%s: with: says nothing; give all: primary, or percentages such as canary: 50",
			StageTrafficRouting)
	}
	t := Traffic{Canary: o.Canary.number(), Baseline: o.Baseline.number()}
	t.Primary = 100 - t.Canary - t.Baseline
	if o.Primary != nil {
		t.Primary = o.Primary.number()
	}
	if t.Primary < 0 || t.Primary+t.Canary+t.Baseline != 100 {
		return Traffic{}, fmt.Errorf("%s: with: primary, canary and baseline must add up to 100%%", StageTrafficRouting)
	}
	return t, nil
}

// percent is 50, "50" or "50%".
type percent int

// JSONSchema is the schema of the three forms.
func (percent) JSONSchema() map[string]any {
	return map[string]any{
		"type": []string{"integer", "string"}, "minimum": 0, "maximum": 100, "pattern": "^(100|[0-9]{1,2})%?$",
		"patternErrorMessage": `a percentage from 0 to 100, such as 50 or "50%"`,
	}
}

func (p *percent) number() int {
	if p == nil {
		return 0
	}
	return int(*p)
}

// UnmarshalJSON reads a whole number from 0 to 100.
func (p *percent) UnmarshalJSON(data []byte) error {
	text := string(data)
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	if err != nil || n < 0 || n > 100 {
		return fmt.Errorf("%s is not a percentage from 0 to 100, such as 50 or \"50%%\"", data)
	}
	*p = percent(n)
	return nil
}

func (r *TrafficRouting) validate() (errs []error) {
	switch r.Method {
	case MethodPodSelector, MethodIstio, MethodGateway:
	default:
		errs = append(errs, fmt.Errorf("trafficRouting.method: %q is not known; use %s, %s or %s", r.Method,
			MethodPodSelector, MethodIstio, MethodGateway))
	}
	if kind := r.Gateway.Route.Kind; kind != "" && kind != KindHTTPRoute && kind != KindGRPCRoute {
		errs = append(errs, fmt.Errorf("trafficRouting.gateway.route.kind: %q cannot be routed by; use %s or %s", kind,
			KindHTTPRoute, KindGRPCRoute))
	}
	if kind := r.Istio.VirtualService.Kind; kind != "" && kind != KindVirtualService {
		errs = append(errs, errors.New("trafficRouting.istio.virtualService.kind: only a VirtualService can be "+
			"routed by; leave the kind out"))
	}
	return errs
}

// Kinds of routes: Istio's, and those of the Gateway API.
const (
	KindVirtualService = "VirtualService"
	KindHTTPRoute      = "HTTPRoute"
	KindGRPCRoute      = "GRPCRoute"
)
