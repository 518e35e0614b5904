// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

const gatewayGroup = "gateway.networking.k8s.io"

// gateway is what is read of a Gateway.
type gateway struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Listeners []listener `json:"listeners"`
	} `json:"spec"`
}

type listener struct {
	Name          string `json:"name"`
	Hostname      string `json:"hostname"`
	Port          int32  `json:"port"`
	Protocol      string `json:"protocol"`
	AllowedRoutes struct {
		Namespaces struct {
			From string `json:"from"`
		} `json:"namespaces"`
	} `json:"allowedRoutes"`
}

// httpRoute is what is read of an HTTPRoute.
type httpRoute struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ParentRefs []parentRef     `json:"parentRefs"`
		Hostnames  []string        `json:"hostnames"`
		Rules      []httpRouteRule `json:"rules"`
	} `json:"spec"`
}

type parentRef struct {
	Group       *string `json:"group,omitempty"`
	Kind        *string `json:"kind,omitempty"`
	Namespace   *string `json:"namespace,omitempty"`
	Name        string  `json:"name"`
	SectionName *string `json:"sectionName,omitempty"`
	Port        *int32  `json:"port,omitempty"`
}

type httpRouteRule struct {
	Matches []struct {
		Path        *typedValue  `json:"path"`
		Method      string       `json:"method"`
		Headers     []namedValue `json:"headers"`
		QueryParams []namedValue `json:"queryParams"`
	} `json:"matches"`
	Filters     []filter `json:"filters"`
	BackendRefs []struct {
		backendRef
		Weight  *int32   `json:"weight"`
		Filters []filter `json:"filters"`
	} `json:"backendRefs"`
	SessionPersistence map[string]any `json:"sessionPersistence"`
}

type backendRef struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Port      int32  `json:"port"`
}

type filter struct {
	Type          string `json:"type"`
	RequestMirror *struct {
		BackendRef backendRef `json:"backendRef"`
		Percent    *int32     `json:"percent"`
		Fraction   *struct {
			Numerator   int32  `json:"numerator"`
			Denominator *int32 `json:"denominator"`
		} `json:"fraction"`
	} `json:"requestMirror"`
}

type typedValue struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type namedValue struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// read fills a typed view of an object.
func read(object *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return fmt.Errorf("read %s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
	return nil
}

// attachment is what becomes of a parentRef: hosts that the route answers for, or why it does not.
type attachment struct {
	ref parentRef
	// foreign parents are neither Gateways nor Services.
	foreign bool
	service *types.NamespacedName
	// hosts are empty for every host.
	hosts []string
	// reason and message say why the route is not accepted, in the words of the Gateway API; empty: it is.
	reason, message string
}

// attach looks at one parent of a route.
func attach(route *httpRoute, ref parentRef, gateways map[types.NamespacedName]*gateway) attachment {
	a := attachment{ref: ref}
	name := types.NamespacedName{Namespace: value(ref.Namespace, route.Namespace), Name: ref.Name}
	switch group, kind := value(ref.Group, gatewayGroup), value(ref.Kind, "Gateway"); {
	case kind == "Service" && group == "":
		a.service = &name
		return a
	case kind != "Gateway" || group != gatewayGroup:
		a.foreign = true
		return a
	}
	parent := gateways[name]
	if parent == nil {
		a.reason, a.message = "NoMatchingParent", "there is no Gateway "+name.String()
		return a
	}
	a.reason, a.message = "NoMatchingParent", "the Gateway has no such HTTP listener"
	for _, l := range parent.Spec.Listeners {
		if l.Protocol != "HTTP" || value(ref.SectionName, l.Name) != l.Name || value(ref.Port, l.Port) != l.Port {
			continue
		}
		from := cmp.Or(l.AllowedRoutes.Namespaces.From, "Same")
		if from != "All" && (from != "Same" || route.Namespace != parent.Namespace) {
			a.reason, a.message = "NotAllowedByListeners", "allowedRoutes.namespaces.from is "+from
			continue
		}
		hosts, ok := commonHosts(route.Spec.Hostnames, l.Hostname)
		if !ok {
			a.reason, a.message = "NoMatchingListenerHostname", "no hostname is one of the listener's: "+l.Hostname
			continue
		}
		a.reason, a.message = "", ""
		a.hosts = append(a.hosts, hosts...)
		if len(hosts) == 0 {
			a.hosts = nil // every host
			return a
		}
	}
	return a
}

func value[T any](pointer *T, otherwise T) T {
	if pointer == nil {
		return otherwise
	}
	return *pointer
}

// commonHosts are the hostnames of a route that a listener has too; none with ok are all.
func commonHosts(hostnames []string, of string) (hosts []string, ok bool) {
	of = strings.ToLower(of)
	if len(hostnames) == 0 {
		if of == "" {
			return nil, true
		}
		return []string{of}, true
	}
	for _, host := range hostnames {
		host = strings.ToLower(host)
		switch {
		case of == "", host == of, strings.HasPrefix(of, "*") && hostMatches([]string{of}, host):
			hosts = append(hosts, host)
		case strings.HasPrefix(host, "*") && hostMatches([]string{host}, of):
			hosts = append(hosts, of)
		}
	}
	return hosts, len(hosts) > 0
}

// rules returns the route's rules without hosts. problem says what in them is not known here; unresolved, which
// backends are none.
func (route *httpRoute) rules() (rules []*rule, problem, unresolved string) {
	for i, each := range route.Spec.Rules {
		r := rule{
			object: fmt.Sprintf("HTTPRoute %s/%s", route.Namespace, route.Name), part: fmt.Sprintf("rules[%d]", i),
			created: route.CreationTimestamp.Time,
		}
		for _, f := range each.Filters {
			copies, broken := f.read(route.Namespace)
			r.broken = cmp.Or(r.broken, broken)
			r.copies = append(r.copies, copies...)
		}
		for _, to := range each.BackendRefs {
			b := to.read(route.Namespace)
			b.weight = value(to.Weight, 1)
			if len(to.Filters) > 0 {
				r.broken = cmp.Or(r.broken, unknownFilter(to.Filters[0]))
			}
			unresolved = cmp.Or(unresolved, b.broken)
			r.backends = append(r.backends, b)
		}
		for _, c := range r.copies {
			unresolved = cmp.Or(unresolved, c.to.broken)
		}
		problem = cmp.Or(problem, r.broken)
		matches, err := each.read()
		if err != nil {
			r.broken = err.Error()
			problem = cmp.Or(problem, r.broken)
		}
		for _, m := range matches {
			matching := r
			matching.match = m
			rules = append(rules, &matching)
		}
	}
	return rules, problem, unresolved
}

// read returns the backend of a route in a namespace, without a weight.
func (to backendRef) read(namespace string) backend {
	b := backend{service: types.NamespacedName{Namespace: namespace, Name: to.Name}, number: to.Port}
	switch {
	case to.Group != "" || cmp.Or(to.Kind, "Service") != "Service":
		b.broken = fmt.Sprintf("backends of kind %s are not known here", to.Kind)
	case to.Namespace != "" && to.Namespace != namespace:
		b.broken = "backends in other namespaces are not allowed here"
	}
	return b
}

// read returns the copies that a filter of a rule asks for; broken is why it cannot be done.
func (f filter) read(namespace string) (copies []copying, broken string) {
	if f.Type != "RequestMirror" || f.RequestMirror == nil {
		return nil, unknownFilter(f)
	}
	part, whole := value(f.RequestMirror.Percent, 100), int32(100)
	if fraction := f.RequestMirror.Fraction; fraction != nil {
		part, whole = fraction.Numerator, value(fraction.Denominator, 100)
	}
	return []copying{newCopying(f.RequestMirror.BackendRef.read(namespace), part, whole)}, ""
}

func unknownFilter(f filter) string {
	return fmt.Sprintf("filters of type %s are not known here", f.Type)
}

// problems are what the route asks for in vain and no condition says: conditions are those of its parents.
func (route *httpRoute) problems() (problems []string) {
	for i, each := range route.Spec.Rules {
		if each.SessionPersistence != nil {
			problems = append(problems, fmt.Sprintf("spec.rules[%d].sessionPersistence is not honoured", i))
		}
	}
	if len(route.Spec.ParentRefs) > 0 {
		return problems
	}
	const nothing = "spec.parentRefs is empty, so that no request comes by this route: name a Gateway"
	for _, each := range route.Spec.Rules {
		for _, to := range each.BackendRefs {
			return append(problems, fmt.Sprintf(`%s, or share the requests to a Service: {group: "", kind: Service, `+
				`name: %s}`, nothing, to.Name))
		}
	}
	return append(problems, nothing)
}

// read returns what requests a rule matches, any of them: without matches, all requests.
func (r *httpRouteRule) read() ([]match, error) {
	if len(r.Matches) == 0 {
		return []match{nil}, nil
	}
	var all []match
	var problem error
	for _, each := range r.Matches {
		var m match
		add := func(c condition, err error) {
			m = append(m, c)
			if err != nil {
				problem = err
			}
		}
		if each.Path != nil {
			add(pathCondition(cmp.Or(each.Path.Type, byPrefix), cmp.Or(each.Path.Value, "/")))
		}
		if each.Method != "" {
			add(methodCondition(each.Method), nil)
		}
		for _, h := range each.Headers {
			add(headerCondition(h.Type, h.Name, h.Value))
		}
		for _, q := range each.QueryParams {
			add(queryCondition(q.Type, q.Name, q.Value))
		}
		all = append(all, m)
	}
	return all, problem
}

// routeRules returns the rules of an HTTPRoute for the proxy and for the addresses of Services, and what became of its
// parents.
func routeRules(route *httpRoute, gateways map[types.NamespacedName]*gateway) (
	edge []*rule, mesh map[types.NamespacedName][]*rule, attachments []attachment,
) {
	mesh = map[types.NamespacedName][]*rule{}
	rules, _, _ := route.rules()
	for _, ref := range route.Spec.ParentRefs {
		a := attach(route, ref, gateways)
		attachments = append(attachments, a)
		if a.foreign || a.reason != "" {
			continue
		}
		for _, each := range rules {
			r := *each
			r.hosts = slices.Compact(slices.Sorted(slices.Values(a.hosts)))
			if a.service != nil {
				r.port = value(ref.Port, 0)
				mesh[*a.service] = append(mesh[*a.service], &r)
				continue
			}
			edge = append(edge, &r)
		}
	}
	return edge, mesh, attachments
}
