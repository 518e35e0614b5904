// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"fmt"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ingressRules are the rules of an Ingress, of whatever class.
func ingressRules(ingress *networkingv1.Ingress) []*rule {
	var rules []*rule
	add := func(host, how, path string, to networkingv1.IngressBackend) {
		r := &rule{
			object: fmt.Sprintf("Ingress %s/%s", ingress.Namespace, ingress.Name), part: part(host + path),
			owner: ingress, created: ingress.CreationTimestamp.Time,
			backends: []backend{ingressBackend(ingress.Namespace, to)},
		}
		if host != "" {
			r.hosts = []string{strings.ToLower(host)}
		}
		if path != "" {
			condition, err := pathCondition(how, path)
			if err != nil {
				r.broken = err.Error()
			}
			r.match = match{condition}
		}
		rules = append(rules, r)
	}
	for _, each := range ingress.Spec.Rules {
		if each.HTTP == nil {
			if ingress.Spec.DefaultBackend != nil {
				add(each.Host, "", "", *ingress.Spec.DefaultBackend)
			}
			continue
		}
		for _, path := range each.HTTP.Paths {
			how := byPrefix
			if path.PathType != nil && *path.PathType == networkingv1.PathTypeExact {
				how = byExact
			}
			add(each.Host, how, path.Path, path.Backend)
		}
	}
	if ingress.Spec.DefaultBackend != nil {
		add("", "", "", *ingress.Spec.DefaultBackend)
	}
	return rules
}

// part names a rule of an Ingress.
func part(path string) string {
	if path == "" {
		return "default backend"
	}
	return "path " + path
}

func ingressBackend(namespace string, to networkingv1.IngressBackend) backend {
	if to.Service == nil {
		return backend{weight: 1, broken: "a backend that is no Service is not known here"}
	}
	return backend{
		service: types.NamespacedName{Namespace: namespace, Name: to.Service.Name},
		number:  to.Service.Port.Number, portName: to.Service.Port.Name, weight: 1,
	}
}

// ingressProblems is what an Ingress asks for and does not get.
func ingressProblems(ingress *networkingv1.Ingress) []string {
	if len(ingress.Spec.TLS) > 0 {
		return []string{"spec.tls is not honoured: hosts are answered without TLS"}
	}
	return nil
}
