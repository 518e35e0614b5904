// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "fmt"

// checkAbility refuses what the method of routing has no way to do. The error says what can.
func (r *TrafficRouting) checkAbility(traffic Traffic) error {
	refuse := func(field, reason string) error {
		return fmt.Errorf("%s: with.%s: %s", StageTrafficRouting, field, reason)
	}
	switch r.Method {
	case MethodPodSelector:
		const reason = "the selector of a Service cannot do that; trafficRouting.method: "
		switch {
		case len(traffic.Match) > 0:
			return refuse("match", reason+"gateway, istio, nginx or traefik can")
		case traffic.Mirror != nil:
			return refuse("mirror", reason+"gateway, istio or traefik can")
		case traffic.SessionAffinity != nil:
			return refuse("sessionAffinity", reason+"gateway or traefik can")
		}
	case MethodIstio:
		if traffic.SessionAffinity != nil {
			return refuse("sessionAffinity", "Istio keeps clients at a pod of one subset (consistentHash of a "+
				"DestinationRule), not at a variant; it can send them by with.match and a cookie of the application")
		}
	case MethodNginx:
		return r.checkNginx(traffic, refuse)
	}
	return nil
}

// checkNginx refuses what a canary Ingress cannot express: there is one for an Ingress, with annotations for one header
// and one cookie.
func (r *TrafficRouting) checkNginx(traffic Traffic, refuse func(field, reason string) error) error {
	switch {
	case traffic.Baseline > 0:
		return refuse("baseline", "ingress-nginx has one canary for an Ingress, and no baseline next to it")
	case traffic.Mirror != nil:
		return refuse("mirror", "ingress-nginx cannot copy requests to a variant; trafficRouting.method: gateway, "+
			"istio or traefik can")
	case traffic.SessionAffinity != nil:
		return refuse("sessionAffinity", "ingress-nginx has this as annotations of the Ingress in Git, which the "+
			"canary takes over: nginx.ingress.kubernetes.io/affinity: cookie")
	}
	headers, cookies := 0, 0
	for i, m := range traffic.Match {
		field := fmt.Sprintf("match[%d]", i)
		switch {
		case m.Header != nil:
			headers++
		case m.Cookie.Exact != NginxCookieValue:
			return refuse(field, "the cookie of a canary of ingress-nginx has the value "+NginxCookieValue+
				": set cookie.exact: "+NginxCookieValue)
		default:
			cookies++
		}
		if headers > 1 || cookies > 1 {
			return refuse(field, "a canary of ingress-nginx has one header and one cookie")
		}
	}
	return nil
}

// NginxCookieValue is the value of the cookie by which ingress-nginx sends requests to a canary.
const NginxCookieValue = "always"
