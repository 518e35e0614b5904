// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// at returns the value of a field by the path of a difference, as people read it; nil when the field is absent.
func at(o *unstructured.Unstructured, path string) any {
	if o == nil {
		return nil
	}
	var value any = o.Object
	for path != "" && value != nil {
		var name string
		var inList bool
		if name, inList, path = nextStep(path); inList {
			value = element(value, name)
		} else {
			fields, _ := value.(map[string]any)
			value = fields[name]
		}
	}
	return value
}

// nextStep cuts the first step off a path: the name of a field, or the name or number of an element of a list.
func nextStep(path string) (name string, inList bool, rest string) {
	switch quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(path, "[")); {
	case !strings.HasPrefix(path, "["):
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return path, false, ""
		}
		return path[:end], false, strings.TrimPrefix(path[end:], ".")
	case err == nil:
		name, _ = strconv.Unquote(quoted) // it is quoted
		rest = strings.TrimPrefix(path[1+len(quoted):], "]")
	default:
		name, rest, _ = strings.Cut(path[1:], "]")
		inList = true
	}
	return name, inList, strings.TrimPrefix(rest, ".")
}

func element(list any, name string) any {
	elements, _ := list.([]any)
	for _, each := range elements {
		if fields, _ := each.(map[string]any); fields["name"] == name {
			return each
		}
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(elements) {
		return elements[i]
	}
	return nil
}
