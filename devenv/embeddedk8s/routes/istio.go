// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// virtualService is what is read of an Istio VirtualService.
type virtualService struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Hosts    []string      `json:"hosts"`
		Gateways []string      `json:"gateways"`
		HTTP     []virtualHTTP `json:"http"`
	} `json:"spec"`
}

type virtualHTTP struct {
	Name  string         `json:"name"`
	Match []virtualMatch `json:"match"`
	Route []struct {
		Destination destination `json:"destination"`
		Weight      int32       `json:"weight"`
	} `json:"route"`
	Mirror           *destination `json:"mirror"`
	MirrorPercentage *struct {
		Value float64 `json:"value"`
	} `json:"mirrorPercentage"`
}

type destination struct {
	Host   string `json:"host"`
	Subset string `json:"subset"`
	Port   struct {
		Number int32 `json:"number"`
	} `json:"port"`
}

type virtualMatch struct {
	URI         *stringMatch           `json:"uri"`
	Method      *stringMatch           `json:"method"`
	Headers     map[string]stringMatch `json:"headers"`
	QueryParams map[string]stringMatch `json:"queryParams"`
	Port        int32                  `json:"port"`
}

type stringMatch struct {
	Exact  *string `json:"exact"`
	Prefix *string `json:"prefix"`
	Regex  *string `json:"regex"`
}

func (s stringMatch) read() (how, value string) {
	switch {
	case s.Exact != nil:
		return byExact, *s.Exact
	case s.Prefix != nil:
		return byStart, *s.Prefix
	case s.Regex != nil:
		return byRegex, *s.Regex
	}
	return byStart, "" // that it is there is enough
}

// meshGateway is Istio's name for the addresses of Services.
const meshGateway = "mesh"

// ignoredByIstio are fields of a route that do not change which program answers. Others that are not known break the
// rule.
var ignoredByIstio = []string{"timeout", "retries", "corsPolicy", "headers", "mirrors"}

// subsets are the labels of subsets by the Service and the subset's name.
type subsets map[types.NamespacedName]map[string]map[string]string

// readSubsets adds what a DestinationRule defines.
func (s subsets) read(object *unstructured.Unstructured) error {
	var rule struct {
		Spec struct {
			Host    string `json:"host"`
			Subsets []struct {
				Name   string            `json:"name"`
				Labels map[string]string `json:"labels"`
			} `json:"subsets"`
		} `json:"spec"`
	}
	if err := read(object, &rule); err != nil {
		return err
	}
	host := serviceOf(rule.Spec.Host, object.GetNamespace())
	if s[host] == nil {
		s[host] = map[string]map[string]string{}
	}
	for _, subset := range rule.Spec.Subsets {
		s[host][subset.Name] = subset.Labels
	}
	return nil
}

// serviceOf is the Service that a host names: short, or with its namespace.
func serviceOf(host, namespace string) types.NamespacedName {
	name, rest, full := strings.Cut(host, ".")
	if full {
		namespace, _, _ = strings.Cut(rest, ".")
	}
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// virtualRules returns the rules of a VirtualService for the proxy and for the addresses of Services, and what it asks
// for in vain.
func virtualRules(object *unstructured.Unstructured, known subsets) (
	edge []*rule, mesh map[types.NamespacedName][]*rule, problems []string, err error,
) {
	var v virtualService
	if err := read(object, &v); err != nil {
		return nil, nil, nil, err
	}
	written, _, _ := unstructured.NestedSlice(object.Object, "spec", "http")
	var rules []*rule
	for i, http := range v.Spec.HTTP {
		fields, _ := written[i].(map[string]any)
		ignored, broken := unknownFields(fields, ignoredByIstio, "name", "match", "route", "mirror",
			"mirrorPercentage")
		for _, field := range append(ignored, broken...) {
			problems = append(problems, fmt.Sprintf("spec.http[%d].%s is not honoured", i, field))
		}
		rules = append(rules, v.rules(i, http, broken, known)...)
	}
	for _, field := range []string{"tcp", "tls"} {
		if _, found, _ := unstructured.NestedSlice(object.Object, "spec", field); found {
			problems = append(problems, "spec."+field+" is not honoured")
		}
	}
	mesh = map[types.NamespacedName][]*rule{}
	for _, host := range v.Spec.Hosts {
		if len(v.Spec.Gateways) == 0 || slices.Contains(v.Spec.Gateways, meshGateway) {
			name := serviceOf(host, v.Namespace)
			mesh[name] = append(mesh[name], rules...)
		}
	}
	if slices.ContainsFunc(v.Spec.Gateways, func(name string) bool { return name != meshGateway }) {
		for _, r := range rules {
			r := *r
			for _, host := range v.Spec.Hosts {
				if host != "*" {
					r.hosts = append(r.hosts, strings.ToLower(host))
				}
			}
			edge = append(edge, &r)
		}
	}
	return edge, mesh, problems, nil
}

// unknownFields are the fields of a mapping that are neither known nor, in the second result, may be ignored.
func unknownFields(fields map[string]any, ignorable []string, known ...string) (ignored, broken []string) {
	for field := range fields {
		switch {
		case slices.Contains(known, field):
		case slices.Contains(ignorable, field):
			ignored = append(ignored, field)
		default:
			broken = append(broken, field)
		}
	}
	slices.Sort(ignored)
	slices.Sort(broken)
	return ignored, broken
}

// rules returns a rule for each match of an HTTP route, which share their turns.
func (v *virtualService) rules(index int, http virtualHTTP, broken []string, known subsets) []*rule {
	r := rule{
		object: fmt.Sprintf("VirtualService %s/%s", v.Namespace, v.Name), part: fmt.Sprintf("http[%d]", index),
		created: v.CreationTimestamp.Time, ordered: index + 1,
	}
	if len(broken) > 0 {
		r.broken = strings.Join(broken, ", ") + " is not honoured here"
	}
	for _, to := range http.Route {
		b := to.Destination.read(v.Namespace, known)
		b.weight = to.Weight
		if len(http.Route) == 1 {
			b.weight = max(b.weight, 1) // one that is alone gets everything
		}
		r.backends = append(r.backends, b)
	}
	if http.Mirror != nil {
		const whole = 10_000 // Istio counts in hundredths of a percent
		part := int32(whole)
		if http.MirrorPercentage != nil {
			part = int32(http.MirrorPercentage.Value * whole / 100)
		}
		r.copies = []copying{newCopying(http.Mirror.read(v.Namespace, known), part, whole)}
	}
	if len(http.Match) == 0 {
		return []*rule{&r}
	}
	var rules []*rule
	for _, m := range http.Match {
		each := r
		var err error
		if each.match, err = m.read(); err != nil {
			each.broken = err.Error()
		}
		each.port = m.Port
		rules = append(rules, &each)
	}
	return rules
}

// read returns the backend of a VirtualService in a namespace, without a weight.
func (d destination) read(namespace string, known subsets) backend {
	b := backend{service: serviceOf(d.Host, namespace), number: d.Port.Number}
	if d.Subset != "" {
		if b.labels = known[b.service][d.Subset]; b.labels == nil {
			b.broken = fmt.Sprintf("no DestinationRule defines the subset %q of %s", d.Subset, d.Host)
		}
	}
	return b
}

func (m virtualMatch) read() (match, error) {
	result := match{}
	var problem error
	add := func(c condition, err error) {
		result = append(result, c)
		if err != nil {
			problem = err
		}
	}
	if m.URI != nil {
		how, value := m.URI.read()
		add(pathCondition(how, value))
	}
	if m.Method != nil {
		_, value := m.Method.read()
		add(methodCondition(value), nil)
	}
	for name, wanted := range m.Headers {
		how, value := wanted.read()
		add(headerCondition(how, name, value))
	}
	for name, wanted := range m.QueryParams {
		how, value := wanted.read()
		add(queryCondition(how, name, value))
	}
	return result, problem
}
