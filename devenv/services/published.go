// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"strings"

	"github.com/pipedeck/pipedeck/system/servicefile"
)

// Published are the Services of a cluster that have addresses on this machine.
type Published struct {
	services []*Service // by namespace and name
	// ready has the keys of those with a ready pod.
	ready map[string]bool
}

// Answering returns where applications answer, by their ids: the address of the port that Choose takes for each, once a
// pod behind it is ready. The names of the applications are asked of name.
func (p Published) Answering(name func(applicationID string) string) map[string]string {
	owned := map[string][]*Service{}
	for _, s := range p.services {
		if id := s.Labels[LabelApplication]; id != "" {
			owned[id] = append(owned[id], s)
		}
	}
	urls := map[string]string{}
	for id, services := range owned {
		chosen, found, err := Choose(services, name(id), "")
		if err != nil || !found || !p.ready[chosen.Service.key()] {
			continue
		}
		if address := chosen.Service.published(chosen.Port); address != "" {
			urls[id] = chosen.Port.Scheme().URL(address)
		}
	}
	return urls
}

// Variables returns the addresses as environment variables. PIPEDECK_SERVICE_<NAMESPACE>_<NAME>_ADDRESS is the first
// port's, as host:port, and the same with _URL at its end its URL where the port speaks HTTP. With _PORT_<PORT> before
// these ends they are those of each port, by its name, or its number where it has none. What is no letter or digit in a
// name is "_" in a variable's; a variable that would stand for two ports is left out. cluster, when it is not empty,
// stands in front of the namespace.
func (p Published) Variables(cluster string) map[string]string {
	variables, twice := map[string]string{}, map[string]bool{}
	set := func(parts []string, port Port, address string) {
		name := servicefile.Prefix + variableName(strings.Join(parts, "_"))
		if _, taken := variables[name+"_ADDRESS"]; taken {
			twice[name] = true
		}
		variables[name+"_ADDRESS"] = address
		if scheme := port.Scheme(); scheme != None {
			variables[name+"_URL"] = scheme.URL(address)
		}
	}
	for _, s := range p.services {
		parts := []string{s.Namespace, s.Name}
		if cluster != "" {
			parts = append([]string{cluster}, parts...)
		}
		for i, port := range s.ports() {
			address := s.published(port)
			if address == "" {
				continue
			}
			if i == 0 {
				set(parts, port, address)
			}
			set(append(parts[:len(parts):len(parts)], "PORT", port.name()), port, address)
		}
	}
	for name := range twice {
		delete(variables, name+"_ADDRESS")
		delete(variables, name+"_URL")
	}
	return variables
}

// variableName makes a name one that a shell can read.
func variableName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
}
