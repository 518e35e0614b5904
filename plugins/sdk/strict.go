// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxUnknownKeys and maxKnownKeys bound what an error about unknown keys names.
const (
	maxUnknownKeys = 10
	maxKnownKeys   = 20
)

// WithStrictKeys returns the plugin with configurations that may only have the keys of their types: those of the
// plugin, of its deploy targets, and of the application at the commit that is to be deployed. Without it, unknown keys
// are ignored, as PipeCD v1 does. What runs already is always decoded without it, because it cannot be corrected any
// more. For the options of stages, call DecodeStrict.
func (p Plugin) WithStrictKeys() Plugin {
	p.strict = true
	return p
}

// DecodeStrict is DecodeOptions for stages that refuse unknown keys. The error names each with its path.
func DecodeStrict[T any](options json.RawMessage) (T, error) {
	var value T
	if err := (decoding{strict: true}).into(options, &value); err != nil {
		return value, fmt.Errorf("the stage's \"with\" is not valid: %w", err)
	}
	return value, nil
}

// decoding is how configurations are decoded.
type decoding struct {
	strict bool
	// document, when there is one, is the YAML that the JSON comes from, and under is the path of it there: errors have
	// lines then.
	document []byte
	under    []string
}

// into decodes JSON (empty: {}) and validates.
func (d decoding) into(data []byte, value any) error {
	if d.strict && len(data) > 0 {
		if err := d.checkKeys(data, reflect.TypeOf(value)); err != nil {
			return err
		}
	}
	return decodeInto(data, value)
}

// checkKeys reports the keys that a type does not have. What is no JSON is left to the decoder.
func (d decoding) checkKeys(data []byte, t reflect.Type) error {
	var content any
	if err := json.Unmarshal(data, &content); err != nil {
		return nil
	}
	unknown := unknownKeys(t, content, nil)
	if len(unknown) == 0 {
		return nil
	}
	var all []error
	for _, key := range unknown[:min(len(unknown), maxUnknownKeys)] {
		all = append(all, errors.New(d.line(key.path)+key.String()))
	}
	if more := len(unknown) - maxUnknownKeys; more > 0 {
		all = append(all, fmt.Errorf("and %d more unknown keys", more))
	}
	return errors.Join(all...)
}

// unknownKey is a key that the type of its place does not have.
type unknownKey struct {
	path  []string
	known []string
}

// String names the path, as a.b[0].c.
func (k unknownKey) String() string {
	var path strings.Builder
	for i, part := range k.path {
		if i > 0 && !strings.HasPrefix(part, "[") {
			path.WriteByte('.')
		}
		path.WriteString(part)
	}
	if len(k.known) == 0 {
		return path.String() + ": unknown key; no key is known there"
	}
	known := strings.Join(k.known[:min(len(k.known), maxKnownKeys)], ", ")
	if len(k.known) > maxKnownKeys {
		known += ", …"
	}
	return path.String() + ": unknown key; known there: " + known
}

// unknownKeys compares decoded JSON with a type. Types that decode themselves are not inspected.
func unknownKeys(t reflect.Type, value any, path []string) (unknown []unknownKey) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if decodesItself(t) {
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		var elements func(key string) (reflect.Type, bool)
		var known []string
		switch t.Kind() {
		case reflect.Map:
			elements = func(string) (reflect.Type, bool) { return t.Elem(), true }
		case reflect.Struct:
			fields := fieldsOf(t)
			known = slices.Sorted(maps.Keys(fields))
			elements = func(key string) (reflect.Type, bool) { return fieldFor(fields, key) }
		default:
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			at := append(slices.Clip(path), key)
			element, is := elements(key)
			if !is {
				unknown = append(unknown, unknownKey{path: at, known: known})
				continue
			}
			unknown = append(unknown, unknownKeys(element, value[key], at)...)
		}
	case []any:
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
			return nil
		}
		for i, element := range value {
			at := append(slices.Clip(path), fmt.Sprintf("[%d]", i))
			unknown = append(unknown, unknownKeys(t.Elem(), element, at)...)
		}
	}
	return unknown
}

func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// fieldsOf are the keys that encoding/json decodes into a struct, with those of embedded structs.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		embedded := f.Type
		for embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		promotes := f.Anonymous && name == "" && embedded.Kind() == reflect.Struct
		if f.Tag.Get("json") == "-" || promotes || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields[name] = f.Type
	}
	return fields
}

// fieldFor prefers the exact name, and takes another case, as encoding/json does.
func fieldFor(fields map[string]reflect.Type, key string) (reflect.Type, bool) {
	if t, is := fields[key]; is {
		return t, true
	}
	for name, t := range fields {
		if strings.EqualFold(name, key) {
			return t, true
		}
	}
	return nil, false
}

// line is the line of a key as the beginning of a message; empty when it is not known.
func (d decoding) line(path []string) string {
	if d.document == nil {
		return ""
	}
	file, err := parser.ParseBytes(d.document, 0)
	if err != nil || len(file.Docs) == 0 {
		return ""
	}
	node := file.Docs[0].Body
	for i, part := range slices.Concat(d.under, path) {
		var key ast.Node
		if node, key = child(node, part); node == nil {
			return ""
		}
		if i == len(d.under)+len(path)-1 && key != nil {
			return fmt.Sprintf("line %d: ", key.GetToken().Position.Line)
		}
	}
	return ""
}

// child is the value under a key or at an index, and the node of the key.
func child(node ast.Node, part string) (value, key ast.Node) {
	switch node := node.(type) {
	case *ast.MappingNode:
		for _, pair := range node.Values {
			if pair.Key.String() == part || strings.Trim(pair.Key.String(), "\"'") == part {
				return pair.Value, pair.Key
			}
		}
	case *ast.SequenceNode:
		var index int
		if _, err := fmt.Sscanf(part, "[%d]", &index); err == nil && index < len(node.Values) {
			return node.Values[index], nil
		}
	case *ast.AnchorNode:
		return child(node.Value, part)
	}
	return nil, nil
}
