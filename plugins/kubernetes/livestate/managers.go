// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
)

// owns reports whether a field of an object, something below it, or the whole that it is a part of, is in the entry.
func owns(entry metav1.ManagedFieldsEntry, o *unstructured.Unstructured, path string) bool {
	if entry.FieldsV1 == nil {
		return false
	}
	var fields map[string]any
	if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil || len(fields) == 0 {
		return false
	}
	var value any = o.Object
	for path != "" && len(fields) > 0 {
		var name string
		var inList, found bool
		if name, inList, path = nextStep(path); inList {
			value = element(value, name)
			fields, found = elementFields(fields, value)
		} else {
			of, _ := value.(map[string]any)
			value = of[name]
			fields, found = fields["f:"+name].(map[string]any)
		}
		if !found {
			return false
		}
	}
	return true
}

// elementFields returns what an entry has of an element of a list, which it identifies by some of its fields, or by its
// value.
func elementFields(fields map[string]any, value any) (of map[string]any, found bool) {
	for name, each := range fields {
		kind, text, _ := strings.Cut(name, ":")
		var key any
		if json.Unmarshal([]byte(text), &key) != nil {
			continue
		}
		if kind == "v" && fmt.Sprint(key) == fmt.Sprint(value) || kind == "k" && hasKey(value, key) {
			of, found = each.(map[string]any)
			return of, found
		}
	}
	return nil, false
}

// hasKey reports whether an element has the fields of a key.
func hasKey(value, key any) bool {
	element, _ := value.(map[string]any)
	fields, _ := key.(map[string]any)
	for name, each := range fields {
		if fmt.Sprint(element[name]) != fmt.Sprint(each) {
			return false
		}
	}
	return len(fields) > 0
}

// lastManager names who but piped has last written a field; empty when that is not known.
func lastManager(o *unstructured.Unstructured, path string) string {
	var last metav1.ManagedFieldsEntry
	for _, entry := range o.GetManagedFields() {
		if entry.Manager == apply.FieldManager || !owns(entry, o, path) {
			continue
		}
		if last.Manager == "" || last.Time != nil && entry.Time != nil && last.Time.Before(entry.Time) {
			last = entry
		}
	}
	return last.Manager
}
