// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
)

// draft is the version that editors know best.
const draft = "http://json-schema.org/draft-07/schema#"

// Generate returns the schemas by file name. source is the folder of package config, where the comments are.
func Generate(source string) (map[string][]byte, error) {
	comments, err := readComments(source)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, file := range map[string]struct {
		title string
		kinds []string
		spec  reflect.Type
	}{
		"piped.json":       {"Configuration of piped", []string{config.KindPiped}, reflect.TypeFor[config.Piped]()},
		"application.json": {"Configuration of an application", config.ApplicationKinds(), reflect.TypeFor[config.Application]()},
	} {
		g := &generator{comments: comments, known: config.KnownParts(), definitions: object{}}
		spec := g.reference(file.spec, nil)
		schema := object{
			"$schema": draft, "title": file.title, "type": "object", "additionalProperties": false,
			"required": []string{"apiVersion", "kind", "spec"},
			"properties": object{
				"apiVersion": object{"const": config.APIVersion, "description": "The version of the form."},
				"kind":       object{"enum": file.kinds, "description": "What the file configures."},
				"spec":       spec,
			},
			"definitions": g.definitions,
		}
		if g.err != nil {
			return nil, g.err
		}
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(schema); err != nil {
			return nil, fmt.Errorf("encode the schema %s: %w", name, err)
		}
		files[name] = b.Bytes()
	}
	return files, nil
}

type object = map[string]any

// generator makes the schema of one file.
type generator struct {
	comments    comments
	known       config.Known
	definitions object
	err         error
}

// reference makes sure that the struct type is defined and refers to it.
func (g *generator) reference(t reflect.Type, open map[string]reflect.Type) object {
	name := t.Name()
	if _, done := g.definitions[name]; !done {
		definition := object{}
		g.definitions[name] = definition // First, because types can hold themselves.
		maps.Copy(definition, g.structure(t, open != nil))
	}
	return object{"$ref": "#/definitions/" + name}
}

// structure is the schema of a struct; an open one may have other keys, and be empty.
func (g *generator) structure(t reflect.Type, open bool) object {
	properties, required := object{}, []string{}
	defaults := config.Defaults(t)
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		property := g.value(field.Type, open)
		g.rules(property, field.Tag.Get("config"))
		if _, ok := property["$ref"]; ok { // What stands beside a reference is not read.
			property = object{"allOf": []any{property}}
		}
		property["description"] = g.describe(t, field.Name)
		if value, ok := defaultOf(defaults.Field(i)); ok {
			property["default"] = value
		}
		properties[name] = property
		if slices.Contains(strings.Split(field.Tag.Get("config"), ","), "required") {
			required = append(required, name)
		}
	}
	schema := object{"type": "object", "properties": properties, "additionalProperties": open}
	if open {
		schema["type"] = []string{"object", "null"}
	}
	if len(required) > 0 {
		schema["required"] = required
	}
	g.parts(t, properties, schema)
	return schema
}

func (g *generator) describe(t reflect.Type, field string) string {
	text := g.comments.of(t, field)
	if text == "" && g.err == nil {
		g.err = fmt.Errorf("field %s of %s has no comment: write one for the schema", field, t.Name())
	}
	return text
}

// value is the schema of a type.
func (g *generator) value(t reflect.Type, open bool) object {
	switch {
	case t == reflect.TypeFor[config.Duration]():
		return object{"type": []string{"string", "integer"}, "pattern": `^\+?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`, "minimum": 0}
	case t == reflect.TypeFor[json.RawMessage]():
		return object{}
	case t.Kind() == reflect.String && t.Name() == "amount":
		return object{"type": []string{"string", "integer"}, "pattern": `^[0-9]{1,9}%?$`, "minimum": 0}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.value(t.Elem(), open)
	case reflect.Struct:
		if open {
			return g.reference(t, g.known.Applications)
		}
		return g.reference(t, nil)
	case reflect.Slice:
		return object{"type": "array", "items": g.value(t.Elem(), open)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": g.value(t.Elem(), open)}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	}
	if g.err == nil {
		g.err = fmt.Errorf("type %s has no schema", t)
	}
	return nil
}

// rules are those of the config tag.
func (g *generator) rules(property object, tag string) {
	for rule := range strings.SplitSeq(tag, ",") {
		if allowed, ok := strings.CutPrefix(rule, "oneof="); ok {
			property["enum"] = strings.Split(allowed, "|")
		}
		if bound, ok := strings.CutPrefix(rule, "from="); ok {
			property["minimum"] = json.Number(bound)
		}
		if bound, ok := strings.CutPrefix(rule, "to="); ok {
			property["maximum"] = json.Number(bound)
		}
		switch rule {
		case "positive":
			property["exclusiveMinimum"] = 0
			delete(property, "minimum")
		case "percentage":
			property["pattern"] = `^(100|[0-9]{1,2})%?$`
			property["maximum"] = 100
		case "environment":
			property["propertyNames"] = object{"pattern": `^[^=]+$`}
		case "assignments":
			property["items"].(object)["pattern"] = "^[^=]+="
		case "required":
			switch property["type"] {
			case "string":
				property["minLength"] = 1
			case "array":
				property["minItems"] = 1
			}
		case "event":
			property["items"].(object)["enum"] = config.NotificationEvents()
		case "eventgroup":
			property["items"].(object)["enum"] = config.NotificationGroups()
		case "mention":
			property["enum"] = append(config.NotificationEvents(), "*")
		}
	}
}

// defaultOf is a default as written in a file; ok is false where nothing is said.
func defaultOf(value reflect.Value) (any, bool) {
	if value.IsZero() {
		return nil, false
	}
	switch v := value.Interface().(type) {
	case config.Duration:
		text := v.String()
		for _, zero := range []string{"m0s", "h0m"} {
			if strings.HasSuffix(text, zero) {
				text = text[:len(text)-2]
			}
		}
		return text, true
	case string, bool, int:
		return v, true
	}
	return nil, false
}
