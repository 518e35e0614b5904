// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package optionschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Object is a JSON object.
type Object = map[string]any

// Schemer is a type that decodes itself. JSONSchema is called on the zero value.
type Schemer interface{ JSONSchema() map[string]any }

// Extender is a struct type with rules that no single field has. ExtendSchema is called on the zero value with the
// schema of the struct, which it may change.
type Extender interface{ ExtendSchema(schema map[string]any) }

// Generator collects the schemas of types as definitions of one document. It stops at its first error.
type Generator struct {
	// Comments are the texts of the fields.
	Comments Comments
	// Rules adds the rules of a field to the schema of its type, and says whether the field is required. The default
	// reads the tag jsonschema.
	Rules func(field reflect.StructField, property Object) (required bool)
	// Extend may change the finished schema of a struct. It may be nil.
	Extend func(t reflect.Type, schema Object)

	// Omit names fields to leave out, as "package.Type.Field".
	Omit []string

	definitions Object
	names       map[reflect.Type]string
	err         error
}

// NewGenerator returns a generator without definitions.
func NewGenerator(comments Comments) *Generator {
	return &Generator{Comments: comments, Rules: tagRules, definitions: Object{}, names: map[reflect.Type]string{}}
}

// Definitions returns what has been defined, and the first error.
func (g *Generator) Definitions() (Object, error) { return g.definitions, g.err }

// Define makes the schemas of the types of values definitions, by name. A value that is nil has none.
func (g *Generator) Define(values map[string]any) {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(values)), func(name string) bool { return values[name] == nil })
	for _, name := range names { // First, because the types can refer to each other.
		if t := dereference(reflect.TypeOf(values[name])); t.Name() != "" {
			g.names[t], g.definitions[name] = name, Object{}
		}
	}
	for _, name := range names {
		t := dereference(reflect.TypeOf(values[name]))
		if t.Kind() != reflect.Struct {
			g.fail("the definition %s has the type %s: want a struct", name, t)
			return
		}
		g.definitions[name] = g.structure(t)
	}
}

// Reference returns a schema that refers to the definition of a struct type, which it creates.
func (g *Generator) Reference(t reflect.Type) Object {
	t = dereference(t)
	if t.Name() == "" {
		return g.structure(t)
	}
	name, defined := g.names[t]
	if !defined {
		name = t.Name()
		if _, taken := g.definitions[name]; taken {
			g.fail("two types have the name %s: rename one of them", name)
		}
		g.names[t] = name
		g.definitions[name] = Object{} // First, because types can hold themselves.
		g.definitions[name] = g.structure(t)
	}
	return Object{"$ref": "#/definitions/" + name}
}

func (g *Generator) fail(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf(format, args...)
	}
}

func dereference(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func (g *Generator) structure(t reflect.Type) Object {
	properties, required := Object{}, []string{}
	g.fields(t, properties, &required)
	schema := Object{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	if extender, is := reflect.Zero(t).Interface().(Extender); is {
		extender.ExtendSchema(schema)
	}
	if g.Extend != nil {
		g.Extend(t, schema)
	}
	return schema
}

// fields adds the keys of a struct and of those that it embeds.
func (g *Generator) fields(t reflect.Type, properties Object, required *[]string) {
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || field.Tag.Get("jsonschema") == "-" || slices.Contains(g.Omit, t.String()+"."+field.Name):
			continue
		case name == "" && field.Anonymous:
			g.fields(dereference(field.Type), properties, required)
			continue
		case !field.IsExported():
			continue
		case name == "":
			name = field.Name
		}
		property := g.value(field.Type)
		needed := g.Rules(field, property)
		if needed {
			*required = append(*required, name)
		}
		properties[name] = g.property(property, needed, g.describe(t, field.Name))
	}
}

// property completes the schema of a key.
func (g *Generator) property(property Object, required bool, description string) Object {
	switch _, refers := property["$ref"]; {
	case refers && required:
		property = Object{"type": "object", "allOf": []any{property}}
	case refers: // Keywords next to a reference are not read. The definition accepts null.
		property = Object{"allOf": []any{property}}
	case required && property["type"] == "string" && property["minLength"] == nil:
		property["minLength"] = 1
	case required && property["type"] == "array" && property["minItems"] == nil:
		property["minItems"] = 1
	case !required:
		acceptNull(property)
	}
	property["description"] = description
	return property
}

// acceptNull adds null to the types and the values of a schema.
func acceptNull(schema Object) {
	switch types := schema["type"].(type) {
	case string:
		schema["type"] = []string{types, "null"}
	case []string:
		schema["type"] = append(types[:len(types):len(types)], "null")
	}
	if values, ok := schema["enum"].([]any); ok {
		schema["enum"] = append(values[:len(values):len(values)], nil)
	}
	if branches, ok := schema["anyOf"].([]any); ok {
		schema["anyOf"] = append(branches[:len(branches):len(branches)], Object{"type": "null"})
	}
}

func (g *Generator) describe(t reflect.Type, field string) string {
	text := g.Comments.Of(t, field)
	if text == "" {
		g.fail("the field %s of %s has no comment: write one, which the schema shows", field, t)
	}
	return text
}

var schemer = reflect.TypeFor[Schemer]()

// value is the schema of a type.
func (g *Generator) value(t reflect.Type) Object {
	t = dereference(t)
	switch {
	case t.Implements(schemer):
		return reflect.Zero(t).Interface().(Schemer).JSONSchema()
	case t == reflect.TypeFor[json.RawMessage]():
		return Object{}
	}
	switch t.Kind() {
	case reflect.Struct:
		return g.Reference(t)
	case reflect.Slice:
		return Object{"type": "array", "items": g.entry(t.Elem())}
	case reflect.Map:
		inner := g.value(t.Elem())
		acceptNull(inner)
		return Object{"type": "object", "additionalProperties": inner}
	case reflect.String:
		return Object{"type": "string"}
	case reflect.Bool:
		return Object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return Object{"type": "number"}
	case reflect.Interface:
		return Object{}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Object{"type": "integer"}
	}
	g.fail("the type %s has no schema: give it a method JSONSchema() map[string]any", t)
	return Object{}
}

// entry is the schema of an entry of a list, which is never null.
func (g *Generator) entry(t reflect.Type) Object {
	schema := g.value(t)
	if _, refers := schema["$ref"]; refers {
		return Object{"type": "object", "allOf": []any{schema}}
	}
	return schema
}
