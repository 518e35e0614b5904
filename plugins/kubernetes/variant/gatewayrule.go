// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

// The positions of the variants in backends.
const (
	primaryIndex = iota
	canaryIndex
)

// canaryRule returns a copy of a rule that sends the requests of the matches to the canary. It has precedence, since
// each of its matches asks for more headers than that of the rule (Gateway API).
func (b backends) canaryRule(rule map[string]any, own *groups) (map[string]any, error) {
	made := runtime.DeepCopyJSON(rule)
	if name, _ := rule["name"].(string); name != "" {
		made["name"] = canaryName(name)
	}
	matches, _ := made["matches"].([]any)
	if len(matches) == 0 {
		matches = []any{map[string]any{}}
	}
	var narrower []any
	for _, item := range matches {
		written, _ := item.(map[string]any)
		if written == nil {
			return nil, &fieldError{"matches", errNoMapping}
		}
		for _, m := range b.traffic.Match {
			match := runtime.DeepCopyJSON(written)
			headers, _ := match["headers"].([]any)
			header := gatewayHeader(m)
			if slices.ContainsFunc(headers, func(h any) bool { return sameHeader(h, header) }) {
				return nil, &fieldError{"matches", fmt.Errorf("an entry has the header %s already, and a route of the "+
					"Gateway API compares a header once: choose another header in with.match of %s", header["name"],
					config.StageTrafficRouting)}
			}
			match["headers"] = append(headers, header)
			narrower = append(narrower, match)
		}
	}
	made["matches"] = narrower
	var refs []any
	for i, part := range own.parts() {
		refs = append(refs, withWeight(own.of[i].own, b.names[canaryIndex], part))
	}
	made["backendRefs"] = refs
	return made, nil
}

// canaryName is the name of what is added for the canary next to a rule or a route.
func canaryName(name string) string { return name + "-" + config.DefaultCanaryValue }

// gatewayHeader is the match for a header; a cookie is a part of the header of that name.
func gatewayHeader(m config.Match) map[string]any {
	const exact, regex = "Exact", "RegularExpression"
	switch {
	case m.Cookie != nil:
		return map[string]any{"type": regex, "name": cookieHeader, "value": m.Expression()}
	case m.Header.Exact != "":
		return map[string]any{"type": exact, "name": m.Header.Name, "value": m.Header.Exact}
	}
	// Implementations differ in whether an expression has to hold for the whole value.
	return map[string]any{"type": regex, "name": m.Header.Name, "value": "^(?:" + m.Header.Regex + ")$"}
}

// cookieHeader is the header that all cookies of a request are in.
const cookieHeader = "cookie"

func sameHeader(item any, as map[string]any) bool {
	header, _ := item.(map[string]any)
	name, _ := header["name"].(string)
	return strings.EqualFold(name, as["name"].(string))
}

// mirror adds the filter that copies requests.
func (b backends) mirror(rule, own map[string]any) {
	m := b.traffic.Mirror
	if m == nil {
		return
	}
	to := map[string]any{"name": b.names[m.Variant()]}
	if port := own["port"]; port != nil {
		to["port"] = port
	}
	mirror := map[string]any{"backendRef": to}
	if share := m.Share(); share < 100 {
		mirror["percent"] = int64(share)
	}
	filters, _ := rule["filters"].([]any)
	rule["filters"] = append(filters, map[string]any{"type": "RequestMirror", "requestMirror": mirror})
}

// keepSessions makes the gateway set a cookie that names the backend.
func (b backends) keepSessions(rule map[string]any) {
	if s := b.traffic.SessionAffinity; s != nil {
		rule["sessionPersistence"] = map[string]any{"type": "Cookie", "sessionName": s.Cookie}
	}
}
