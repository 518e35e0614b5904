// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// conventional judges kinds that nothing special is known of, by the conventions that most controllers keep:
// conditions, those for each parent of a route (Gateway API), the health that Argo CD reports, and a phase.
func conventional(o *unstructured.Unstructured) string {
	good := []string{"Ready", "Available", "Healthy", "Synced", "Established", "Accepted", "Programmed", "ResolvedRefs",
		"Reconciled", "Succeeded"}
	if bad := firstOf(o, "False", good...); bad != "" {
		return bad
	}
	if bad := firstOf(o, "True", "Degraded", "Failed", "Stalled", "ReconcileError"); bad != "" {
		return bad
	}
	if bad := firstOf(o, "Unknown", good...); bad != "" {
		return bad
	}
	parents, _, _ := unstructured.NestedSlice(o.Object, "status", "parents")
	for _, each := range parents {
		parent, _ := each.(map[string]any)
		conditions, _ := parent["conditions"].([]any)
		name, _, _ := unstructured.NestedString(parent, "parentRef", "name")
		if bad := first(conditions, "False", "Accepted", "ResolvedRefs", "Programmed"); bad != "" {
			return "for " + name + ": " + bad
		}
	}
	switch health := text(o, "status", "health", "status"); health {
	case "", "Healthy", "Suspended":
	default:
		return said("its health is "+health, text(o, "status", "health", "message"))
	}
	switch phase := text(o, "status", "phase"); phase {
	case "Failed", "Error", "Degraded", "Lost", "Unhealthy", "Aborted", "Pending", "Progressing", "Creating",
		"Provisioning", "Initializing", "Deleting":
		return said("its phase is "+phase, text(o, "status", "reason"), text(o, "status", "message"))
	}
	return ""
}

// portProblem is the error of a port of an Ingress, whose controller has no other place for one.
func portProblem(o *unstructured.Unstructured) string {
	addresses, _, _ := unstructured.NestedSlice(o.Object, "status", "loadBalancer", "ingress")
	for _, each := range addresses {
		address, _ := each.(map[string]any)
		ports, _ := address["ports"].([]any)
		for _, each := range ports {
			port, _ := each.(map[string]any)
			if problem, _ := port["error"].(string); problem != "" {
				return fmt.Sprintf("the ingress controller reports an error of port %v: %s", port["port"], problem)
			}
		}
	}
	return ""
}

// firstOf words the first condition of the given types that has the given status.
func firstOf(o *unstructured.Unstructured, verdict string, types ...string) string {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return first(conditions, verdict, types...)
}

func first(conditions []any, verdict string, types ...string) string {
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		name, _ := condition["type"].(string)
		if condition["status"] != verdict || !slices.Contains(types, name) {
			continue
		}
		reason, _ := condition["reason"].(string)
		message, _ := condition["message"].(string)
		what := fmt.Sprintf("%s is %s", name, strings.ToLower(verdict))
		if at, _ := condition["lastTransitionTime"].(string); at != "" {
			what += " since " + at
		}
		return said(what, reason, message)
	}
	return ""
}

// since is " since 2026-01-01T00:00:00Z" by the first condition of the given types that is false; empty without one.
func since(o *unstructured.Unstructured, types ...string) string {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		name, _ := condition["type"].(string)
		at, _ := condition["lastTransitionTime"].(string)
		if condition["status"] == "False" && slices.Contains(types, name) && at != "" {
			return " since " + at
		}
	}
	return ""
}

// hasReason reports whether some condition gives the reason.
func hasReason(o *unstructured.Unstructured, reason string) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(each any) bool {
		condition, _ := each.(map[string]any)
		return condition["reason"] == reason
	})
}

// annotationConditions has the conditions of a HorizontalPodAutoscaler in autoscaling/v1, which lacks a field for them.
const annotationConditions = "autoscaling.alpha.kubernetes.io/conditions"

// withConditions returns a HorizontalPodAutoscaler with its conditions in the field of autoscaling/v2.
func withConditions(o *unstructured.Unstructured) *unstructured.Unstructured {
	var conditions []any
	if json.Unmarshal([]byte(o.GetAnnotations()[annotationConditions]), &conditions) != nil || len(conditions) == 0 {
		return o
	}
	return &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": conditions}}}
}

// said joins what is not empty.
func said(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}
