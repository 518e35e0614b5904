// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// fieldPath is a field as server-side apply names it: names of items may hold anything in quotes.
const fieldPath = `\.((?:[^\s:"]|"(?:[^"\\]|\\.)*")+)`

var (
	// Server-side apply, one line for each: ".spec.replica: field not declared in schema".
	fieldErrors = regexp.MustCompile(`(?m)(?:^|[\s:])` + fieldPath + `: ([^\n]+)$`)
	// Create and update: strict decoding error: unknown field "spec.replica".
	unknownFields = regexp.MustCompile(`unknown field "([^"]+)"`)
	// plainName is a name that needs no care between the brackets of a path.
	plainName = regexp.MustCompile(`^[\w-]+$`)
	// Server-side apply: `duplicate entries for key [name="A"]`.
	duplicated = regexp.MustCompile(`^duplicate entries for key \[(.*)\]`)
	// Server-side apply: "expected numeric (int or float), got string".
	mistyped = regexp.MustCompile(`^expected (\w+)(?: \([^)]*\))?, got `)
)

// inCluster begins what server-side apply says of the object as it is in the cluster.
const inCluster = "existing fields"

// describeFields recognises what the API says of fields that do not fit the schema of the kind.
func describeFields(refused *RefusedError, text string, m manifest.Manifest, ask inquiry) bool {
	var problems []problem
	for _, found := range unknownFields.FindAllStringSubmatch(text, -1) {
		problems = append(problems, unknownField(normalPath(found[1]), m, ask))
	}
	for _, found := range fieldErrors.FindAllStringSubmatch(text, -1) {
		path, what := found[1], found[2]
		switch {
		case what == "field not declared in schema":
			problems = append(problems, unknownField(path, m, ask))
		case duplicated.MatchString(what):
			problems = append(problems, duplicate(path, duplicated.FindStringSubmatch(what)[1],
				strings.Contains(text, inCluster), m))
		case mistyped.MatchString(what):
			problems = append(problems, wrongType(path, mistyped.FindStringSubmatch(what)[1], m))
		default:
			problems = append(problems, problem{path: path, text: shorten(what)})
		}
	}
	if len(problems) == 0 {
		return false
	}
	problems = withEveryUnknown(problems, m, ask)
	slices.SortStableFunc(problems, func(a, b problem) int { return a.line(m) - b.line(m) }) // the API has no order
	refused.take(problems, m)
	refused.unsettled = true
	return true
}

// withEveryUnknown adds the fields that the kind does not have besides those that the API has named: it stops at the
// first one in an item of a list, and begins where it likes. The paths of all of them are written in one way, so that
// the reason is the same each time.
func withEveryUnknown(known []problem, m manifest.Manifest, ask inquiry) []problem {
	if ask.fields == nil || !slices.ContainsFunc(known, func(p problem) bool { return p.unknown }) {
		return known
	}
	var missing []problem
	eachMap(m.Object, "", func(path string, fields map[string]any) {
		has := ask.fields(strings.TrimPrefix(path+".x", "."))
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if len(has) > 0 && !slices.Contains(has, name) {
				missing = append(missing, unknownField(strings.TrimPrefix(path+"."+name, "."), m, ask))
			}
		}
	})
	others := slices.DeleteFunc(slices.Clone(known), func(p problem) bool {
		return p.unknown && slices.ContainsFunc(missing, func(found problem) bool {
			return lastName(found.path) == lastName(p.path) && m.At(found.path) == m.At(p.path)
		})
	})
	return append(others, missing...)
}

// eachMap calls a function with every mapping, in the order of the paths.
func eachMap(value any, path string, f func(path string, fields map[string]any)) {
	switch value := value.(type) {
	case map[string]any:
		f(path, value)
		for _, key := range slices.Sorted(maps.Keys(value)) {
			eachMap(value[key], strings.TrimPrefix(path+"."+key, "."), f)
		}
	case []any:
		names := itemNames(value)
		for i, item := range value {
			eachMap(item, fmt.Sprintf("%s[%s]", path, names[i]), f)
		}
	}
}

// itemNames names the items of a list as server-side apply does where each has another name, and by their numbers
// elsewhere.
func itemNames(items []any) []string {
	names, seen := make([]string, len(items)), map[string]bool{}
	for i, item := range items {
		fields, _ := item.(map[string]any)
		name, _ := fields["name"].(string)
		if !plainName.MatchString(name) || seen[name] {
			for i := range items {
				names[i] = strconv.Itoa(i)
			}
			return names
		}
		seen[name], names[i] = true, fmt.Sprintf("name=%q", name)
	}
	return names
}

// unknownField is a field that the kind does not have.
func unknownField(path string, m manifest.Manifest, ask inquiry) problem {
	return problem{
		path: path, text: fmt.Sprintf("no such field in %s %s", m.GetAPIVersion(), m.GetKind()),
		remedy: suggest(path, ask), unknown: true,
	}
}

// duplicate is an item of a list that is there twice. In the cluster a list may have been written so by another way of
// applying; server-side apply then takes no change of the object.
func duplicate(path, keys string, live bool, m manifest.Manifest) problem {
	name := "have " + strings.NewReplacer("=", " ", ",", " and ").Replace(keys)
	if value, alone := strings.CutPrefix(keys, "="); alone { // an item without fields
		name = "are " + value
	}
	if live {
		return problem{
			path: path, text: "two items " + name + " in the cluster, so that nothing in it can be applied",
			remedy: fmt.Sprintf("set metadata.annotations[%q]: %s in the manifest for one deployment, which puts the "+
				"manifest in its place", manifest.AnnotationReplace, manifest.Enabled),
		}
	}
	p := problem{path: path, text: "two items " + name, remedy: "remove or rename one of them"}
	if first, second, found := m.Twice(path, keys); found {
		p.text += ", the first at " + first
		p.where = second
	}
	return p
}

// wrongType is a value of another type than the field has. The value of a Secret is not shown.
func wrongType(path, expected string, m manifest.Manifest) problem {
	if expected == "numeric" {
		expected = "number"
	}
	value := m.Value(path)
	got := brief(value)
	if m.Is(manifest.KindSecret) {
		got = typeName(value)
	}
	p := problem{path: path, text: fmt.Sprintf("expected a %s, got %s", expected, got)}
	text, isText := value.(string)
	_, isMap := value.(map[string]any)
	_, isList := value.([]any)
	switch {
	case expected == "string" && !isMap && !isList:
		p.remedy = "put the value in quotes"
	case expected == "list" && isMap:
		p.remedy = "put a dash and a space in front of each item"
	case expected == "list":
		p.remedy = "write each item on a separate line, after a dash and a space"
	case expected == "map" && isList:
		p.remedy = "remove the dashes in front of its fields"
	case expected == "map":
		p.remedy = "write its fields below it, indented"
	case isText && isScalar(text, expected):
		p.remedy = "remove the quotes"
	}
	return p
}

// isScalar reports whether a text would have the type without quotes.
func isScalar(text, expected string) bool {
	if expected == "number" {
		_, err := strconv.ParseFloat(text, 64)
		return err == nil
	}
	return text == "true" || text == "false"
}

// typeName is the type of a value.
func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "nothing"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	}
	return "a number"
}
