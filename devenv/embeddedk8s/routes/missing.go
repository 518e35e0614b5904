// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// backendNotFound is the reason of the Gateway API for a backend that is not there.
const backendNotFound = "BackendNotFound"

// missing says which backends of rules are not there: Services, or ports of Services. Each is named once.
func missing(known corelisters.ServiceLister, rules []*rule) (problems []string) {
	for _, r := range rules {
		for _, to := range r.backends {
			problem := missingBackend(known, to)
			if problem == "" {
				continue
			}
			if problem = r.part + ": " + problem; !slices.Contains(problems, problem) {
				problems = append(problems, problem)
			}
		}
	}
	return problems
}

// missingBackend is empty for a backend that is there, and for one that is broken anyway.
func missingBackend(known corelisters.ServiceLister, to backend) string {
	if to.broken != "" {
		return ""
	}
	service, err := known.Services(to.service.Namespace).Get(to.service.Name)
	switch {
	case err != nil: // a lister on a cache has no other error
		return noService(to.service)
	case service.Spec.Type == corev1.ServiceTypeExternalName, to.number == 0 && to.portName == "":
		return ""
	case slices.ContainsFunc(service.Spec.Ports, func(port corev1.ServicePort) bool {
		return port.Port == to.number || to.number == 0 && port.Name == to.portName
	}):
		return ""
	case to.number == 0:
		return fmt.Sprintf("Service %s has no port %s", to.service, to.portName)
	}
	return fmt.Sprintf("Service %s has no port %d", to.service, to.number)
}

func noService(name types.NamespacedName) string { return "there is no Service " + name.String() }
