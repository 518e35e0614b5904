// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
)

// outputPage is the documentation of what commands print for programs.
const outputPage = "docs/json.md"

// outputReference returns the text of the page with the tables of all fields between its marks.
func outputReference(text, root string) (string, error) {
	comments, err := optionschema.ReadComments(filepath.Join(root, documentSources))
	if err != nil {
		return "", err
	}
	o := &outputTables{comments: comments}
	for _, of := range documents() {
		o.table(of, "docs/schemas/cli/"+of.name+".json")
	}
	documented := o.take()
	for _, of := range lines() {
		o.line(of)
	}
	events := o.take()
	o.objects()
	objects := o.take()
	for name, table := range map[string]string{"documents": documented, "events": events, "objects": objects} {
		if text, err = between(text, name, table); err != nil {
			return "", err
		}
	}
	return text, nil
}

// between puts a table between the marks of its name.
func between(text, name, table string) (string, error) {
	begin, end := fmt.Sprintf("<!-- begin %s -->\n", name), fmt.Sprintf("<!-- end %s -->", name)
	before, rest, ok := strings.Cut(text, begin)
	_, after, found := strings.Cut(rest, end)
	if !ok || !found {
		return "", fmt.Errorf("the text has no lines %q and %q", strings.TrimSpace(begin), end)
	}
	return before + begin + "\n" + table + "\n" + end + after, nil
}

// outputTables writes the tables of fields.
type outputTables struct {
	comments optionschema.Comments
	b        strings.Builder
	// shown are the objects that have a table, or will have one.
	shown []reflect.Type
}

func (o *outputTables) take() string {
	text := strings.TrimSpace(o.b.String()) + "\n"
	o.b.Reset()
	return text
}

// table writes the table of a document.
func (o *outputTables) table(of printed, schema string) {
	fmt.Fprintf(&o.b, "### `%s`\n\n[Schema](%s)\n\n", of.title, strings.TrimPrefix(schema, "docs/"))
	o.fields(reflect.TypeOf(of.value))
}

// line writes what an event line consists of.
func (o *outputTables) line(of printed) {
	t := reflect.TypeOf(of.value)
	fmt.Fprintf(&o.b, "- `%s`: %s. ", of.name, of.title)
	if inner := t.Field(t.NumField() - 1); inner.Anonymous {
		fmt.Fprintf(&o.b, "Its fields are those of the object [%s](#%s).\n", inner.Type.Name(),
			strings.ToLower(inner.Type.Name()))
		o.remember(inner.Type)
		return
	}
	fmt.Fprintf(&o.b, "Its fields are those of the object [%s](#%s).\n", t.Name(), strings.ToLower(t.Name()))
	o.remember(t)
}

// objects writes the tables of the objects in documents and lines.
func (o *outputTables) objects() {
	for i := 0; i < len(o.shown); i++ { // tables find further objects
		fmt.Fprintf(&o.b, "### %s\n\n", o.shown[i].Name())
		o.fields(o.shown[i])
	}
}

func (o *outputTables) remember(t reflect.Type) {
	if !slices.Contains(o.shown, t) {
		o.shown = append(o.shown, t)
	}
}

func (o *outputTables) fields(t reflect.Type) {
	o.b.WriteString("| field | type | meaning |\n|---|---|---|\n")
	o.rows(t)
	o.b.WriteString("\n")
}

func (o *outputTables) rows(t reflect.Type) {
	known := words()
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch name {
		case "-":
			continue
		case "":
			o.rows(field.Type)
			continue
		}
		meaning := meaningOf(name, o.comments.Of(t, field.Name))
		if allowed := known[field.Tag.Get("words")]; len(allowed) > 0 && !strings.Contains(meaning, allowed[0]) {
			meaning += " Values: `" + strings.Join(allowed, "`, `") + "`."
		}
		if strings.Contains(options, "omitempty") && !strings.Contains(meaning, "left out") {
			meaning += " Left out when there is none."
		}
		fmt.Fprintf(&o.b, "| `%s` | %s | %s |\n", name, o.typeName(field), strings.ReplaceAll(meaning, "|", "\\|"))
	}
}

// meaningOf returns a comment without the name of the field, which stands next to it in the table.
func meaningOf(name, comment string) string {
	meaning := strings.TrimPrefix(comment, name+" ")
	for _, verb := range []string{"is ", "are "} {
		meaning = strings.TrimPrefix(meaning, verb)
	}
	return strings.ToUpper(meaning[:1]) + meaning[1:]
}

// typeName is what a reader of the table calls the type of a field.
func (o *outputTables) typeName(field reflect.StructField) string {
	t, list := field.Type, ""
	if t == reflect.TypeFor[json.RawMessage]() {
		return "object"
	}
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice {
			list = "list of "
		}
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Struct:
		o.remember(t)
		return fmt.Sprintf("%s[%s](#%s)", list, t.Name(), strings.ToLower(t.Name()))
	case field.Tag.Get("format") == "date-time":
		return "time"
	case t.Kind() == reflect.String && list != "":
		return "list of texts"
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() == reflect.Map:
		return "texts by name"
	}
	return "number"
}
