// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
)

// reference returns the text with the tables of all keys, in Markdown, between its lines "<!-- begin NAME -->" and
// "<!-- end NAME -->". The names are piped, application and plugins.
func reference(text, root string) (string, error) {
	comments, err := optionschema.ReadComments(filepath.Join(root, configSources))
	if err != nil {
		return "", err
	}
	t := &tables{comments: comments}
	t.keys(reflect.TypeFor[config.Piped]())
	piped := t.take()
	t.keys(reflect.TypeFor[config.Application]())
	application := t.take()
	chapters, err := pluginChapters()
	if err != nil {
		return "", err
	}
	for name, table := range map[string]string{"piped": piped, "application": application, "plugins": chapters} {
		if text, err = between(text, name, table); err != nil {
			return "", err
		}
	}
	return text, nil
}

// tables writes tables of keys.
type tables struct {
	comments optionschema.Comments
	b        strings.Builder
}

func (t *tables) take() string {
	text := strings.TrimSpace(t.b.String()) + "\n"
	t.b.Reset()
	return text
}

func (r *tables) keys(t reflect.Type) {
	r.b.WriteString("| key | type | meaning |\n|---|---|---|\n")
	r.rows(t, "", map[reflect.Type]bool{})
	r.b.WriteString("\n")
}

func (r *tables) rows(t reflect.Type, prefix string, above map[reflect.Type]bool) {
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
		for inner.Kind() == reflect.Pointer || (inner.Kind() == reflect.Slice &&
			inner != reflect.TypeFor[json.RawMessage]()) {
			if inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct {
				key += "[]"
			}
			inner = inner.Elem()
		}
		meaning := strings.ReplaceAll(r.comments.Of(t, field.Name), "|", "\\|")
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
