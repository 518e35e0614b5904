// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/spelling"
)

// wantKey is a keyword of a schema whose text says what is allowed in its place. Editors of the YAML language server
// show it, too.
const wantKey = "patternErrorMessage"

// finding is one mistake in a value.
type finding struct {
	path []string
	// unread is set for a key that the plugin does not read, missing for one that it needs.
	unread  bool
	missing bool
	onKey   bool
	message string
	// alternatives are the keys of which one is missing below the path.
	alternatives []string
}

// findings returns what is wrong in a value; nothing when the schema cannot be used for it.
func (s *Schema) findings(schema *jsonschema.Schema, value config.Value) (list []finding) {
	defer func() {
		if recover() != nil { // Anyone may have written the schema, and piped goes on.
			list = nil
		}
	}()
	invalid, is := errors.AsType[*jsonschema.ValidationError](schema.Validate(value.Any()))
	if !is {
		return nil
	}
	e := &explainer{schema: s, value: value}
	e.explain(invalid)
	return unique(slices.DeleteFunc(slices.Clone(e.list), e.misspelled))
}

// unique leaves out what is said of a value after the first mistake, because parts of a schema may check the same.
func unique(list []finding) []finding {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(f finding) bool {
		at := strings.Join(f.path, "\x00")
		again := seen[at]
		seen[at] = true
		return again
	})
}

// misspelled reports whether a key that is missing is there with a slip, which is a finding itself.
func (e *explainer) misspelled(f finding) bool {
	around, names := f.path, f.alternatives
	if f.missing {
		around, names = f.path[:len(f.path)-1], f.path[len(f.path)-1:]
	}
	return slices.ContainsFunc(e.list, func(other finding) bool {
		last := len(other.path) - 1
		return other.unread && slices.Equal(other.path[:last], around) &&
			spelling.Nearest(other.path[last], names) != ""
	})
}

// explainer turns the errors of the validator into the words of this project.
type explainer struct {
	schema *Schema
	value  config.Value
	list   []finding
}

func (e *explainer) add(path []string, format string, args ...any) {
	e.list = append(e.list, finding{path: path, message: fmt.Sprintf(format, args...)})
}

// unread adds a key that the plugin does not read. A schema whose keys are names of something says what they must be.
func (e *explainer) unread(v *jsonschema.ValidationError, name string) {
	if reason := e.reason(v); reason != "" {
		e.key(v.InstanceLocation, name, reason)
		return
	}
	properties := asObject(e.schema.lookup(v.SchemaURL)["properties"])
	known := slices.DeleteFunc(slices.Sorted(maps.Keys(properties)), func(name string) bool {
		return asObject(properties[name])["deprecated"] == true // read, but no advice
	})
	path := append(slices.Clone(v.InstanceLocation), name)
	e.list = append(e.list, finding{path: path, onKey: true, unread: true, message: unread(name, known)})
}

// holder returns the path of the mapping with a key. The validator says at, and may be wrong after other mistakes.
func holder(value any, at []string, key string) []string {
	found := []string(nil)
	var search func(value any, path []string)
	search = func(value any, path []string) {
		switch value := value.(type) {
		case map[string]any:
			if _, has := value[key]; has && (found == nil || slices.Equal(path, at)) {
				found = append([]string{}, path...)
			}
			for _, name := range slices.Sorted(maps.Keys(value)) {
				search(value[name], append(path[:len(path):len(path)], name))
			}
		case []any:
			for i, item := range value {
				search(item, append(path[:len(path):len(path)], fmt.Sprint(i)))
			}
		}
	}
	search(value, nil)
	return found
}

// key adds a key that is not allowed.
func (e *explainer) key(at []string, name, reason string) {
	message := fmt.Sprintf("%q is not allowed as a key here%s", shorten(name), reason)
	e.list = append(e.list, finding{path: append(slices.Clone(at), name), onKey: true, message: message})
}

// least is the message on a value that is too short.
func (e *explainer) least(path []string, want int, unit string) {
	if want == 1 {
		e.add(path, "is required and must not be empty")
		return
	}
	e.add(path, "%s is too short: want %d %s at least", e.value.Describe(path), want, unit)
}

func (e *explainer) explain(v *jsonschema.ValidationError) {
	at := v.InstanceLocation
	switch k := v.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		e.branches(v)
	case *kind.AdditionalProperties:
		for _, name := range slices.Sorted(slices.Values(k.Properties)) {
			e.unread(v, name)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			path := append(slices.Clone(at), name)
			e.list = append(e.list, finding{path: path, missing: true, message: "is required and must not be empty"})
		}
	case *kind.MinLength:
		e.least(at, k.Want, "characters")
	case *kind.MinItems:
		e.least(at, k.Want, "entries")
	case *broken:
		path := append(slices.Clone(at), k.path...)
		e.add(path, "%s %s", e.value.Describe(path), k.text)
	case *kind.PropertyNames:
		allowed, _ := e.schema.lookup(v.SchemaURL)["enum"].([]any)
		e.key(holder(e.value.Any(), at, k.Property), k.Property, e.reason(v)+near(k.Property, texts(allowed)))
	default:
		if len(v.Causes) == 0 {
			e.add(at, "%s", e.leaf(v))
			return
		}
		for _, cause := range v.Causes {
			e.explain(cause)
		}
	}
}

// branches explains a value that has none of several forms by the form that it was most likely meant to have: the one
// whose type it has.
func (e *explainer) branches(v *jsonschema.ValidationError) {
	var meant []*jsonschema.ValidationError
	for _, branch := range v.Causes {
		if !mistyped(branch, v.InstanceLocation) {
			meant = append(meant, branch)
		}
	}
	if len(meant) == 1 {
		if words := e.reason(v); words == "" || !e.word(meant[0], v, words) {
			e.explain(meant[0])
		}
		return
	}
	if names := alternatives(meant); len(names) > 1 {
		e.list = append(e.list, finding{path: v.InstanceLocation, message: "needs " + strings.Join(names, " or "),
			alternatives: names})
		return
	}
	e.add(v.InstanceLocation, "%s is not allowed here%s", e.describe(v), e.reason(v))
}

// word explains a value that is none of the words of its form, with all forms that the value may have.
func (e *explainer) word(branch, v *jsonschema.ValidationError, forms string) bool {
	for len(branch.Causes) == 1 {
		branch = branch.Causes[0]
	}
	words, is := branch.ErrorKind.(*kind.Enum)
	if !is || !slices.Equal(branch.InstanceLocation, v.InstanceLocation) {
		return false
	}
	given, _ := words.Got.(string)
	e.add(v.InstanceLocation, "%s is not allowed here%s%s", e.describe(v), forms, near(given, texts(words.Want)))
	return true
}

// alternatives returns the keys of which a value needs one; nil when its forms differ in more.
func alternatives(branches []*jsonschema.ValidationError) []string {
	var names []string
	for _, branch := range branches {
		for len(branch.Causes) == 1 {
			branch = branch.Causes[0]
		}
		missing, is := branch.ErrorKind.(*kind.Required)
		if !is || len(missing.Missing) != 1 {
			return nil
		}
		names = append(names, missing.Missing[0])
	}
	return names
}

// mistyped reports whether an error is that the value at the path has another type.
func mistyped(v *jsonschema.ValidationError, at []string) bool {
	if _, is := v.ErrorKind.(*kind.Type); is {
		return slices.Equal(v.InstanceLocation, at)
	}
	return slices.ContainsFunc(v.Causes, func(cause *jsonschema.ValidationError) bool { return mistyped(cause, at) })
}

// reason is the end of a message: what the schema at the place of an error wants in words, if it says so.
func (e *explainer) reason(v *jsonschema.ValidationError) string {
	if want, _ := e.schema.lookup(v.SchemaURL)[wantKey].(string); want != "" {
		return ": want " + want
	}
	return ""
}

// describe is the value in words. A schema says by writeOnly that it is a secret.
func (e *explainer) describe(v *jsonschema.ValidationError) string {
	if e.schema.lookup(v.SchemaURL)["writeOnly"] == true {
		return "the value"
	}
	return e.value.Describe(v.InstanceLocation)
}

// leaf is the message on one value.
func (e *explainer) leaf(v *jsonschema.ValidationError) string {
	got := e.describe(v)
	if bound, is := v.ErrorKind.(*kind.ExclusiveMinimum); is {
		return fmt.Sprintf("%s is not allowed here: want more than %s", got, bound.Want.RatString())
	}
	reason := e.reason(v)
	switch k := v.ErrorKind.(type) {
	case *kind.Type:
		return e.mistype(k, got, reason) + e.pairs(k, v.InstanceLocation)
	case *kind.Format:
		if isOwnFormat(k.Want) {
			return fmt.Sprintf("%s %s", got, k.Err)
		}
	}
	if reason != "" {
		return got + " is not allowed here" + reason
	}
	switch k := v.ErrorKind.(type) {
	case *kind.Enum:
		return got + " is not allowed here: want " + oneOf(k.Got, k.Want)
	case *kind.Const:
		return got + " is not allowed here: want " + oneOf(k.Got, []any{k.Want})
	case *kind.Minimum:
		return fmt.Sprintf("%s is not allowed here: want %s at least", got, k.Want.RatString())
	case *kind.MaxItems:
		return fmt.Sprintf("%d entries are not allowed here: want %d at most", k.Got, k.Want)
	case *kind.Maximum:
		return fmt.Sprintf("%s is not allowed here: want %s at most", got, k.Want.RatString())
	case *kind.Pattern:
		return fmt.Sprintf("%s is not allowed here: want a text that matches %s", got, k.Want)
	}
	return got + " is not allowed here: " + v.ErrorKind.LocalizedString(printer)
}

// mistype is the message on a value of another type. reason is about the content of texts, mappings and lists, so for
// those the type says more.
func (e *explainer) mistype(k *kind.Type, got, reason string) string {
	want := slices.DeleteFunc(slices.Clone(k.Want), func(name string) bool { return name == "null" })
	switch {
	case k.Got == "null":
		return "an entry of this list is empty"
	case reason != "" && (len(want) > 1 || !slices.Contains([]string{"string", "object", "array"}, want[0])):
		return got + " is not allowed here" + reason
	case slices.Contains(want, "string") && slices.Contains([]string{"number", "integer", "boolean"}, k.Got):
		return got + " is not text: write it in quotes"
	}
	return got + " is not allowed here: want " + typeNames(want)
}

// pairs is the end of a message on a list of pairs such as A=b in place of a mapping: the first one as it is meant.
func (e *explainer) pairs(k *kind.Type, at []string) string {
	if k.Got != "array" || !slices.Contains(k.Want, "object") {
		return ""
	}
	first := e.value.At(append(slices.Clone(at), "0"))
	text, _ := first.(string)
	name, value, _ := strings.Cut(text, "=")
	if pair := asObject(first); pair != nil {
		name, _ = pair["name"].(string)
		value, _ = pair["value"].(string)
	}
	if name == "" || name == text {
		return ""
	}
	return shorten(fmt.Sprintf(" such as {%s: %q}", name, value))
}

// oneOf lists the allowed values, and names the one that is nearest.
func oneOf(got any, want []any) string {
	names := texts(want)
	text := strings.Join(names, " or ")
	if given, is := got.(string); is {
		text += near(given, names)
	}
	return text
}

// texts are values as a message shows them, without null.
func texts(values []any) []string {
	var names []string
	for _, value := range values {
		if value != nil {
			names = append(names, fmt.Sprint(value))
		}
	}
	return names
}

// unread is the message on a key that a plugin does not read.
func unread(name string, known []string) string {
	switch nearest := spelling.Nearest(name, known); {
	case nearest != "":
		return fmt.Sprintf("unknown key %q is not read; did you mean %q?", shorten(name), nearest)
	case len(known) == 0:
		return fmt.Sprintf("unknown key %q is not read; there are no keys here", shorten(name))
	default:
		return fmt.Sprintf("unknown key %q is not read; known keys are %s", shorten(name), strings.Join(known, ", "))
	}
}

var typeWords = map[string]string{
	"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
	"array": "a list", "object": "a mapping",
}

func typeNames(types []string) string {
	var names []string
	for _, t := range types {
		if word := typeWords[t]; word != "" {
			names = append(names, word)
		}
	}
	return strings.Join(names, " or ")
}

func asObject(value any) map[string]any {
	object, _ := value.(map[string]any)
	return object
}
