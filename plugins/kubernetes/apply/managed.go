// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rawManaged are the managers of an object as the API has sent them. GetManagedFields converts all their fields, which
// takes a good part of an apply of many objects, and mostly none of them is of interest.
func rawManaged(o *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedFieldNoCopy(o.Object, "metadata", "managedFields")
	entries, _ := list.([]any)
	raw := make([]map[string]any, 0, len(entries))
	for _, each := range entries {
		if entry, is := each.(map[string]any); is {
			raw = append(raw, entry)
		}
	}
	return raw
}

// hasReplaced reports whether one of the replacedManagers has written to an object otherwise than by server-side apply.
func hasReplaced(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(rawManaged(o), func(entry map[string]any) bool {
		manager, _ := entry["manager"].(string)
		subresource, _ := entry["subresource"].(string)
		return subresource == "" && entry["operation"] == string(metav1.ManagedFieldsOperationUpdate) &&
			replacedManagers.Has(manager)
	})
}

// isNew reports whether no one has written to an object since it was created: no application had it, nor has one let it
// go.
func isNew(o *unstructured.Unstructured) bool {
	managers := rawManaged(o)
	if len(managers) != 1 {
		return false
	}
	text, _ := managers[0]["time"].(string)
	written, err := time.Parse(time.RFC3339, text)
	return err != nil || !written.After(o.GetCreationTimestamp().Time)
}
