// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
)

// claimed suspects what only the live object has in maps and lists that someone else has written as a whole: the API
// owns such a value as one (x-kubernetes-map-type: atomic, a list without keys), so an apply may replace it.
//
// Server-side apply (KEP-555): the fields of a manager end at an empty set where it owns the whole value.
func (c *comparison) claimed(git, live map[string]any, o *unstructured.Unstructured) {
	entries, _, _ := unstructured.NestedFieldNoCopy(o.Object, "metadata", "managedFields")
	list, _ := entries.([]any)
	for _, each := range list {
		entry, _ := each.(map[string]any)
		if entry["manager"] == apply.FieldManager || entry["subresource"] != nil {
			continue
		}
		if fields, ok := entry["fieldsV1"].(map[string]any); ok && len(fields) > 0 {
			c.claims(fields, git, live, step{})
		}
	}
}

// claims goes down the fields of a manager, next to the values of Git and of the live object.
func (c *comparison) claims(fields map[string]any, git, live any, at step) {
	if len(fields) == 0 {
		c.claim(git, live, at)
		return
	}
	for name, each := range fields {
		of, _ := each.(map[string]any)
		kind, text, _ := strings.Cut(name, ":")
		switch kind {
		case "f":
			git, inGit := git.(map[string]any)
			live, inLive := live.(map[string]any)
			if next := at.field(text); inGit && inLive && git[text] != nil && !c.isTooLong(at, next) {
				c.claims(of, git[text], live[text], next)
			}
		case "k":
			var key any
			git, _ := git.([]any)
			live, _ := live.([]any)
			has := func(element any) bool { return hasKey(element, key) }
			if json.Unmarshal([]byte(text), &key) != nil {
				continue
			}
			i, j := slices.IndexFunc(git, has), slices.IndexFunc(live, has)
			if i < 0 || j < 0 {
				continue
			}
			element, _ := git[i].(map[string]any)
			named, _ := element["name"].(string)
			if next := at.element(i, named); !c.isTooLong(at, next) {
				c.claims(of, git[i], live[j], next)
			}
		}
	}
}

// claim suspects all in which two values differ that someone owns as one, but for what is suspected already.
func (c *comparison) claim(git, live any, at step) {
	if isScalar(git) || isEmpty(git) {
		return
	}
	whole := &comparison{both: true}
	whole.values(git, live, at)
	for _, one := range whole.found {
		known := func(other difference) bool { return isWithin(one.path, other.path) }
		if !slices.ContainsFunc(c.found, known) {
			c.addUnsure(step{one.path, one.indexed}, one.git, one.live)
		}
	}
}
