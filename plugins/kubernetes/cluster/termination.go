// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// longestHold bounds what one condition of a namespace says, in bytes.
const longestHold = 600

// HeldBy says what holds an object that is being deleted: "held by finalizers a, b", and what a Namespace says of its
// contents. It is empty when the object does not say.
func HeldBy(o *unstructured.Unstructured) string {
	var reasons []string
	finalizers := o.GetFinalizers()
	if o.GetKind() == "Namespace" {
		inSpec, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "finalizers")
		// Every namespace has the finalizer kubernetes; its conditions say what holds that.
		finalizers = append(slices.Clone(finalizers),
			slices.DeleteFunc(inSpec, func(f string) bool { return f == "kubernetes" })...)
	}
	if len(finalizers) > 0 {
		reasons = append(reasons, "held by finalizers "+strings.Join(finalizers, ", "))
	}
	if o.GetKind() == "Namespace" {
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			c, _ := c.(map[string]any)
			if message, _ := c["message"].(string); c["status"] == "True" && message != "" {
				if len(message) > longestHold {
					message = strings.ToValidUTF8(message[:longestHold], "") + "…"
				}
				reasons = append(reasons, message)
			}
		}
	}
	return strings.Join(reasons, "; ")
}
