// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// IsAggregated reports whether an object is a ClusterRole that aggregates others: a controller sets its rules, whatever
// a manifest has.
func IsAggregated(o *unstructured.Unstructured) bool {
	if o.GroupVersionKind().GroupKind().String() != "ClusterRole.rbac.authorization.k8s.io" {
		return false
	}
	rule, _, _ := unstructured.NestedMap(o.Object, "aggregationRule")
	return len(rule) > 0
}
