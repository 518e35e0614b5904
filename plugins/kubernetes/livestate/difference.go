// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// pipecdPrefix is that of the labels and annotations that a deployment stamps.
const pipecdPrefix = "pipecd.dev/"

// difference is one field. A value is nil where the field is absent.
type difference struct {
	// path is for people: "spec.template.spec.containers[web].image"; indexed has numbers for list elements.
	path, indexed string
	git, live     any
	// both is whether fields that only the live object has were compared, too.
	both bool
	// unsure is set for what only the live object has in a map that an apply may own: only the API knows whether an
	// apply changes it.
	unsure bool
}

// suspect returns the fields of the manifest that the live object has not in the same form. What only the live object
// has does not count, nor does what is empty: those are defaults and other people's fields (PipeCD v1). In a
// selector, in a map that is empty in Git, and in what someone else has written as a whole, it is suspected, because an
// apply may own the value.
func suspect(want, live *unstructured.Unstructured) []difference {
	c, git, other := &comparison{}, compared(want), compared(live)
	c.fields(git, other, step{})
	c.claimed(git, other, live)
	return c.found
}

// compareObjects returns every field in which two forms of the same object differ, but for those that each write
// changes.
func compareObjects(live, want *unstructured.Unstructured) []difference {
	c := &comparison{both: true}
	c.fields(compared(want), compared(live), step{})
	return c.found
}

// compared is the part of an object that belongs to Git. The maps are new where something was left out.
func compared(o *unstructured.Unstructured) map[string]any {
	part := maps.Clone(o.Object)
	delete(part, "status")
	written, _ := part["metadata"].(map[string]any)
	metadata := maps.Clone(written)
	for _, key := range []string{"managedFields", "resourceVersion", "generation", "creationTimestamp", "uid",
		"selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		delete(metadata, key)
	}
	for _, key := range []string{"labels", "annotations"} {
		if values, ok := metadata[key].(map[string]any); ok {
			kept := maps.Clone(values)
			maps.DeleteFunc(kept, func(name string, _ any) bool {
				return strings.HasPrefix(name, pipecdPrefix) || name == lastApplied || isKept(name)
			})
			metadata[key] = kept
		}
	}
	part["metadata"] = metadata
	dropFilled(o, part)
	return part
}

// dropFilled leaves out of an object's part what is not Git's although an apply would write it.
func dropFilled(o *unstructured.Unstructured, part map[string]any) {
	switch {
	case manifest.IsAggregated(o):
		delete(part, "rules")
	case o.GroupVersionKind().GroupKind().String() == manifest.KindSecret && part["type"] == "":
		part["type"] = "Opaque" // the API fills it in; Secrets are never tried
	}
}

// step is the way to a field.
type step struct{ path, indexed string }

// plainField and plainElement are names that a path has without quotes.
var (
	plainField   = regexp.MustCompile(`^[A-Za-z0-9_$-]+$`)
	plainElement = regexp.MustCompile(`^[A-Za-z0-9_$.:/-]+$`)
)

func (s step) field(name string) step {
	if !plainField.MatchString(name) {
		return step{s.path + "[" + strconv.Quote(name) + "]", dotted(s.indexed, name)}
	}
	return step{dotted(s.path, name), dotted(s.indexed, name)}
}

// element is the way to an element of a list, by its name where a path can have the name.
func (s step) element(index int, name string) step {
	if !plainElement.MatchString(name) || len(s.path)+len(name)+len("[]") > maxPath {
		name = strconv.Itoa(index)
	}
	return step{s.path + "[" + name + "]", dotted(s.indexed, strconv.Itoa(index))}
}

func dotted(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// maxPath bounds the path of a difference, in bytes: it and the longest name of an object fit into one rule of
// ignoreFields. Parts whose paths are longer are one difference of the value that holds them.
const maxPath = 2 << 10

// comparison collects differences. both is whether fields that only the live object has count; unbounded is whether
// paths may be longer than maxPath.
type comparison struct {
	both, unbounded bool
	found           []difference
}

// isTooLong reports whether the path of a part of the value at a path is too long. The object itself has no path, so
// its fields are never compared as one value.
func (c *comparison) isTooLong(at, part step) bool {
	return !c.unbounded && at.path != "" && len(part.path) > maxPath
}

// whole compares a value as one.
func (c *comparison) whole(git, live any, at step) {
	parts := &comparison{both: c.both, unbounded: true}
	if parts.values(git, live, at); len(parts.found) > 0 {
		c.add(at, git, live)
		c.found[len(c.found)-1].unsure = len(certain(parts.found)) == 0
	}
}

func (c *comparison) add(at step, git, live any) {
	c.found = append(c.found, difference{path: at.path, indexed: at.indexed, git: git, live: live, both: c.both})
}

func (c *comparison) addUnsure(at step, git, live any) {
	c.add(at, git, live)
	c.found[len(c.found)-1].unsure = true
}

func (c *comparison) values(git, live any, at step) {
	switch git := git.(type) {
	case map[string]any:
		if live, ok := live.(map[string]any); ok {
			if len(git) == 0 && len(live) > 0 && !c.both && !isShared(at.path) {
				c.addUnsure(at, git, live)
				return
			}
			c.fields(git, live, at)
			return
		}
	case []any:
		if live, ok := live.([]any); ok {
			c.elements(git, live, at)
			return
		}
	}
	if !same(git, live, at) {
		c.add(at, git, live)
	}
}

func (c *comparison) fields(git, live map[string]any, at step) {
	names := slices.Collect(maps.Keys(git))
	var unsure []string
	for name := range live {
		_, known := git[name]
		switch {
		case known:
		case c.both, isSelector(at.path):
			names = append(names, name)
		case mayBeSelector(at.path) && !isEmpty(live[name]):
			unsure = append(unsure, name)
		}
	}
	if slices.ContainsFunc(slices.Concat(names, unsure), func(n string) bool { return c.isTooLong(at, at.field(n)) }) {
		c.whole(git, live, at)
		return
	}
	slices.Sort(names)
	for _, name := range names {
		c.values(git[name], live[name], at.field(name))
	}
	slices.Sort(unsure)
	for _, name := range unsure {
		c.addUnsure(at.field(name), nil, live[name])
	}
}

// isSelector reports the maps in which every entry changes the meaning of the others, so that a new one counts.
func isSelector(path string) bool {
	return path == "spec.selector" || path == "spec.selector.matchLabels" || strings.HasSuffix(path, ".nodeSelector")
}

// mayBeSelector reports the maps that are selectors by their names, such as the podSelector of a NetworkPolicy.
func mayBeSelector(path string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, ".matchLabels"), "Selector")
}

func (c *comparison) elements(git, live []any, at step) {
	if c.isTooLong(at, at.element(len(git)+len(live), "")) {
		c.whole(git, live, at)
		return
	}
	gitNames, liveNames := namesOf(git), namesOf(live)
	if gitNames == nil || liveNames == nil {
		if len(git) != len(live) {
			c.add(at, git, live)
			return
		}
		for i := range git {
			c.values(git[i], live[i], at.element(i, ""))
		}
		return
	}
	for i, name := range gitNames {
		var other any
		if j := slices.Index(liveNames, name); j >= 0 {
			other = live[j]
		}
		c.values(git[i], other, at.element(i, name))
	}
	for j, name := range liveNames {
		if !slices.Contains(gitNames, name) {
			c.values(nil, live[j], at.element(len(git)+j, name))
		}
	}
}

// namesOf returns the names of elements that each have a name: containers, volumes, ports, variables.
func namesOf(list []any) []string {
	names := make([]string, 0, len(list))
	for _, element := range list {
		fields, ok := element.(map[string]any)
		name, _ := fields["name"].(string)
		if !ok || name == "" || slices.Contains(names, name) {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// same compares values that are not both maps or both lists. PipeCD v1: empty is absent, "1" is 1. Quantities are equal
// when they mean the same.
func same(git, live any, at step) bool {
	if isEmpty(git) && isEmpty(live) || reflect.DeepEqual(git, live) {
		return true
	}
	if !isScalar(git) || !isScalar(live) {
		return false
	}
	a, b := fmt.Sprint(git), fmt.Sprint(live)
	return a == b || isQuantity(at.path) && sameQuantity(a, b)
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

func isScalar(value any) bool {
	switch value.(type) {
	case map[string]any, []any, nil:
		return false
	}
	return true
}

func isQuantity(path string) bool {
	return strings.Contains(path, "resources.") || strings.Contains(path, "spec.hard") ||
		strings.HasSuffix(path, "sizeLimit") || strings.Contains(path, "capacity.")
}

func sameQuantity(a, b string) bool {
	x, errX := resource.ParseQuantity(a)
	y, errY := resource.ParseQuantity(b)
	return errX == nil && errY == nil && x.Cmp(y) == 0
}
