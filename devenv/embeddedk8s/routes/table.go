// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/relay"
)

// table is where requests go. It does not change.
type table struct {
	// edge are the rules of the proxy for all hosts.
	edge []*rule
	// mesh are the rules for requests to the address of a Service.
	mesh map[types.NamespacedName][]*rule
}

// rule sends requests to backends.
type rule struct {
	// object names the rule's object, as in "HTTPRoute default/web", and part the rule in it, as in "rules[1]".
	object, part string
	// owner is the object, for its Events; nil for none.
	owner runtime.Object
	// missing is the status of the answer when there is no such Service; 0 for 503. The Gateway API asks for 500.
	missing int
	// hosts are lower-case names, "*.example.com" for all under one, or empty for every host.
	hosts []string
	// match is nil for every request.
	match match
	// port is the Service's port that a rule of the mesh is for, or 0.
	port int32
	// ordered is a rule's place, from 1, in an object whose first rule that matches wins. It is 0 in other objects.
	ordered int
	// created is the object's time of creation: the older one of two equal rules wins.
	created  time.Time
	backends []backend
	split    *relay.Split
	// copies are the backends that get copies of the requests.
	copies []copying
	// broken is why requests cannot be answered as the rule says.
	broken string
}

// backend is a Service's port with a weight.
type backend struct {
	service types.NamespacedName
	// number and portName name the port as in services.Proxy.Backend.
	number   int32
	portName string
	weight   int32
	// labels are those of the pods that are meant; nil: all of the Service.
	labels map[string]string
	broken string
}

// copying sends copies of some requests: part of whole.
type copying struct {
	to          backend
	part, whole int32
	split       *relay.Split
}

// newCopying copies a part of the requests, at most all.
func newCopying(to backend, part, whole int32) copying {
	part, whole = max(0, part), max(1, whole)
	return copying{to: to, part: min(part, whole), whole: whole}
}

// isNext reports whether the request is one of those that are copied.
func (c copying) isNext() bool { return c.split.Next() == 0 }

// key says what shares turns: rules with the same key go on where they were.
func (r *rule) key() string {
	var text strings.Builder
	text.WriteString(r.object + " " + r.part)
	for _, b := range r.backends {
		fmt.Fprintf(&text, "|%s:%d%s*%d%v", b.service, b.number, b.portName, b.weight, b.labels)
	}
	for _, c := range r.copies {
		fmt.Fprintf(&text, "|copies %s:%d*%d/%d%v", c.to.service, c.to.number, c.part, c.whole, c.to.labels)
	}
	return text.String()
}

// takeTurns begins to share.
func (r *rule) takeTurns() {
	var weights []int32
	for _, b := range r.backends {
		weights = append(weights, b.weight)
	}
	r.split = relay.NewSplit(weights)
	r.copies = slices.Clone(r.copies) // rules of one part of an object may have the same list
	for i, c := range r.copies {
		r.copies[i].split = relay.NewSplit([]int32{c.part, c.whole - c.part})
	}
}

// sortRules puts what wins first.
func sortRules(rules []*rule) {
	slices.SortStableFunc(rules, func(a, b *rule) int {
		order := cmp.Compare(hostRank(b.hosts), hostRank(a.hosts))
		switch {
		case order != 0:
		case (a.ordered > 0) != (b.ordered > 0):
			order = cmp.Compare(b.ordered, a.ordered)
		case a.ordered == 0:
			order = slices.Compare(b.match.rank(), a.match.rank())
		}
		return cmp.Or(order, a.created.Compare(b.created), cmp.Compare(a.object, b.object),
			cmp.Compare(a.ordered, b.ordered))
	})
}

// hostRank is higher for names than for wildcards, and for long ones. A rule has one host once it is in a table.
func hostRank(hosts []string) int {
	if len(hosts) == 0 {
		return 0
	}
	if strings.HasPrefix(hosts[0], "*") {
		return len(hosts[0])
	}
	return 1000 + len(hosts[0])
}

// perHost returns copies of a rule for each of its hosts, which share their turns.
func perHost(r *rule) []*rule {
	if len(r.hosts) < 2 {
		return []*rule{r}
	}
	var rules []*rule
	for _, host := range r.hosts {
		each := *r
		each.hosts = []string{host}
		rules = append(rules, &each)
	}
	return rules
}

// find returns the first rule that matches.
func find(rules []*rule, port int32, r *http.Request) *rule {
	host := relay.HostName(r.Host)
	for _, rule := range rules {
		ofPort := rule.port == 0 || port == 0 || rule.port == port
		if ofPort && hostMatches(rule.hosts, host) && rule.match.matches(r) {
			return rule
		}
	}
	return nil
}

func hostMatches(hosts []string, host string) bool {
	if len(hosts) == 0 {
		return true
	}
	return slices.ContainsFunc(hosts, func(pattern string) bool {
		if rest, wildcard := strings.CutPrefix(pattern, "*"); wildcard {
			return len(host) > len(rest) && strings.HasSuffix(host, rest)
		}
		return pattern == host
	})
}

// names are the hosts that the table answers for. A rule for every host adds none.
func (t *table) names() []string {
	var names []string
	for _, r := range t.edge {
		names = append(names, r.hosts...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
