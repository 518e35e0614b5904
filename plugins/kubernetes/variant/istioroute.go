// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

// routeTo gives a route its destinations and returns the routes that have to stand before it: the first route that
// matches a request is the one that counts (Istio). ok is false when no destination is of the host.
func routeTo(route map[string]any, host, namespace string, label config.VariantLabel,
	traffic config.Traffic) (before []any, ok bool, err error) {
	destinations, _ := route["route"].([]any)
	split, own, err := splitRoute(destinations, host, namespace, label, traffic)
	if err != nil {
		return nil, false, &fieldError{"route", err}
	}
	if own == nil {
		return nil, false, nil
	}
	if len(traffic.Match) > 0 {
		canary, err := canaryRoute(route, own, label.CanaryValue, traffic.Match)
		if err != nil {
			return nil, false, err
		}
		before = append(before, canary)
	}
	route["route"] = split
	return before, true, mirrorRoute(route, own.of[0].own, label, traffic.Mirror)
}

// mirrorRoute makes a route copy requests.
func mirrorRoute(route, own map[string]any, label config.VariantLabel, m *config.Mirror) error {
	if m == nil {
		return nil
	}
	if route["mirror"] != nil || route["mirrors"] != nil {
		return &fieldError{"mirror", fmt.Errorf("the route copies requests already: remove that, or with.mirror of %s",
			config.StageTrafficRouting)}
	}
	to := runtime.DeepCopyJSON(own["destination"].(map[string]any))
	to["subset"] = [...]string{label.PrimaryValue, label.CanaryValue, label.BaselineValue}[m.Variant()]
	route["mirror"], route["mirrorPercentage"] = to, map[string]any{"value": int64(m.Share())}
	return nil
}

// canaryRoute returns a copy of a route that sends the requests of the matches to the canary.
func canaryRoute(route map[string]any, own *groups, subset string, wanted []config.Match) (map[string]any, error) {
	made := runtime.DeepCopyJSON(route)
	if name, _ := route["name"].(string); name != "" {
		made["name"] = canaryName(name)
	}
	matches, _ := made["match"].([]any)
	if len(matches) == 0 {
		matches = []any{map[string]any{}}
	}
	var narrower []any
	for _, item := range matches {
		written, _ := item.(map[string]any)
		if written == nil {
			return nil, &fieldError{"match", errNoMapping}
		}
		for _, m := range wanted {
			match := runtime.DeepCopyJSON(written)
			headers, _ := match["headers"].(map[string]any)
			if headers == nil {
				headers = map[string]any{}
			}
			name, value := istioHeader(m)
			if headers[name] != nil {
				return nil, &fieldError{"match", fmt.Errorf("an entry has the header %s already, and Istio compares a "+
					"header once: choose another header in with.match of %s", name, config.StageTrafficRouting)}
			}
			headers[name] = value
			match["headers"] = headers
			narrower = append(narrower, match)
		}
	}
	made["match"] = narrower
	var to []any
	for i, weight := range shareOut(100, own.parts()) {
		to = append(to, toSubset(own.of[i].own, subset, weight))
	}
	made["route"] = to
	return made, nil
}

// istioHeader is the match for a header, whose name has to be in lower case (Istio).
func istioHeader(m config.Match) (name string, value map[string]any) {
	switch {
	case m.Cookie != nil:
		return cookieHeader, map[string]any{"regex": m.Expression()}
	case m.Header.Exact != "":
		return strings.ToLower(m.Header.Name), map[string]any{"exact": m.Header.Exact}
	}
	return strings.ToLower(m.Header.Name), map[string]any{"regex": m.Header.Regex}
}
