// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
)

// owns reports whether a field, or something below it, is in the entry. Elements of lists are not distinguished.
func owns(entry metav1.ManagedFieldsEntry, path string) bool {
	if entry.FieldsV1 == nil {
		return false
	}
	var fields map[string]any
	if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
		return false
	}
	for _, segment := range strings.Split(path, ".") {
		name, _, inList := strings.Cut(segment, "[")
		next, found := fields["f:"+name].(map[string]any)
		if !found {
			return false
		}
		if fields = next; inList {
			return true
		}
	}
	return true
}

// lastManager names who but piped has last written a field; empty when that is not known.
func lastManager(o *unstructured.Unstructured, path string) string {
	var last metav1.ManagedFieldsEntry
	for _, entry := range o.GetManagedFields() {
		if entry.Manager == apply.FieldManager || !owns(entry, path) {
			continue
		}
		if last.Manager == "" || last.Time != nil && entry.Time != nil && last.Time.Before(entry.Time) {
			last = entry
		}
	}
	return last.Manager
}
