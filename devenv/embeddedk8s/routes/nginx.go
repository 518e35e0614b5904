// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"fmt"
	"slices"
	"strconv"

	networkingv1 "k8s.io/api/networking/v1"
)

// nginxCanary begins the annotations by which ingress-nginx makes an Ingress the canary of another one.
const nginxCanary = "nginx.ingress.kubernetes.io/canary"

func isCanary(ingress *networkingv1.Ingress) bool { return ingress.Annotations[nginxCanary] == "true" }

// addCanary lets the rules of a canary share the requests of those rules that have the same host and path in the same
// namespace, and returns the rules to add for its header and its cookie. problems says what it asks for in vain.
func addCanary(rules []*rule, canary *networkingv1.Ingress) (added []*rule, problems []string) {
	weight, err := strconv.ParseInt(canary.Annotations[nginxCanary+"-weight"], 10, 32)
	if err != nil || weight < 0 || weight > 100 {
		weight = 0 // what ingress-nginx does
	}
	for _, own := range ingressRules(canary) {
		found := false
		for _, r := range rules {
			if of, ok := r.owner.(*networkingv1.Ingress); !ok || of.Namespace != canary.Namespace ||
				r.part != own.part || !slices.Equal(r.hosts, own.hosts) {
				continue
			}
			found = true
			added = append(added, canaryRules(r, own, canary)...)
			primary, other := r.backends[0], own.backends[0]
			primary.weight, other.weight = int32(100-weight), int32(weight)
			r.backends = []backend{primary, other}
		}
		if !found {
			problems = append(problems, fmt.Sprintf("%s is of no other Ingress, so the canary gets no requests by it",
				own.part))
		}
	}
	return added, problems
}

// canaryRules are the rules for requests that a header or a cookie sends to the canary, or keeps from it.
func canaryRules(of, own *rule, canary *networkingv1.Ingress) (rules []*rule) {
	add := func(c condition, err error, to backend) {
		r := *of
		r.match = append(slices.Clone(of.match), c)
		r.backends = []backend{to}
		if err != nil {
			r.broken = err.Error()
		}
		rules = append(rules, &r)
	}
	primary, other := of.backends[0], own.backends[0]
	if name := canary.Annotations[nginxCanary+"-by-header"]; name != "" {
		value, hasValue := canary.Annotations[nginxCanary+"-by-header-value"]
		pattern, hasPattern := canary.Annotations[nginxCanary+"-by-header-pattern"]
		switch {
		case hasValue:
			c, err := headerCondition(byExact, name, value)
			add(c, err, other)
		case hasPattern:
			c, err := headerCondition(byRegex, name, pattern)
			add(c, err, other)
		default:
			for value, to := range map[string]backend{"always": other, "never": primary} {
				c, err := headerCondition(byExact, name, value)
				add(c, err, to)
			}
		}
	}
	if name := canary.Annotations[nginxCanary+"-by-cookie"]; name != "" {
		add(cookieCondition(name, "always"), nil, other)
		add(cookieCondition(name, "never"), nil, primary)
	}
	return rules
}
