// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
)

// Reference returns the text with the tables of all keys, in Markdown, between its lines
// "<!-- begin NAME -->" and "<!-- end NAME -->". The names are piped, application and plugins.
// source is the folder of package config, where the comments are.
func Reference(text, source string) (string, error) {
	comments, err := readComments(source)
	if err != nil {
		return "", err
	}
	r := &reference{comments: comments}
	r.keys(reflect.TypeFor[config.Piped]())
	piped := r.take()
	r.keys(reflect.TypeFor[config.Application]())
	application := r.take()
	known := config.KnownParts()
	r.part("Application options of %s", known.Applications)
	r.part("Stage options of %s", known.Stages)
	r.part("Configuration of the plugin %s", known.Plugins)
	r.part("Configuration of deploy targets of %s", known.DeployTargets)
	for name, table := range map[string]string{"piped": piped, "application": application, "plugins": r.take()} {
		begin, end := fmt.Sprintf("<!-- begin %s -->\n", name), fmt.Sprintf("<!-- end %s -->", name)
		before, rest, ok := strings.Cut(text, begin)
		_, after, found := strings.Cut(rest, end)
		if !ok || !found {
			return "", fmt.Errorf("the text has no lines %q and %q", strings.TrimSpace(begin), end)
		}
		text = before + begin + "\n" + table + "\n" + end + after
	}
	return text, nil
}

// reference writes tables of keys.
type reference struct {
	comments comments
	b        strings.Builder
}

func (r *reference) take() string {
	text := strings.TrimSpace(r.b.String()) + "\n"
	r.b.Reset()
	return text
}

// part writes a table for each type; those that are the same are one.
func (r *reference) part(title string, types map[string]reflect.Type) {
	names := map[reflect.Type][]string{}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		names[types[name]] = append(names[types[name]], "`"+name+"`")
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		t := types[name]
		if names[t] == nil {
			continue
		}
		fmt.Fprintf(&r.b, "### "+title+"\n\n", strings.Join(names[t], ", "))
		names[t] = nil
		r.keys(t)
	}
}

func (r *reference) keys(t reflect.Type) {
	r.b.WriteString("| key | type | meaning |\n|---|---|---|\n")
	r.rows(t, "", map[reflect.Type]bool{})
	r.b.WriteString("\n")
}

func (r *reference) rows(t reflect.Type, prefix string, above map[reflect.Type]bool) {
	if above[t] {
		return
	}
	above[t] = true
	defer delete(above, t)
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		key, inner := prefix+name, field.Type
		for inner.Kind() == reflect.Pointer || (inner.Kind() == reflect.Slice && inner != reflect.TypeFor[json.RawMessage]()) {
			if inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct {
				key += "[]"
			}
			inner = inner.Elem()
		}
		meaning := strings.ReplaceAll(r.comments.of(t, field.Name), "|", "\\|")
		if strings.Contains(","+field.Tag.Get("config")+",", ",required,") {
			meaning = "Required. " + meaning
		}
		fmt.Fprintf(&r.b, "| `%s` | %s | %s |\n", key, typeName(field), meaning)
		if inner.Kind() == reflect.Struct {
			r.rows(inner, key+".", above)
		}
	}
}

// typeName is what a reader of the table calls the type.
func typeName(field reflect.StructField) string {
	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[config.Duration]():
		return "duration"
	case t == reflect.TypeFor[json.RawMessage]():
		return "any"
	case t.Name() == "amount":
		return "number or percentage"
	}
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return "list of texts"
		}
		return "list"
	case reflect.Map:
		if t.Elem().Kind() == reflect.String {
			return "map of texts"
		}
		return "map"
	case reflect.Struct:
		return "mapping"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Float64:
		return "number"
	}
	return "text"
}
