// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/system/plainerror"
	"github.com/pipedeck/pipedeck/system/spelling"
)

// defaulter is a type whose fields have defaults other than zero.
type defaulter interface{ setDefaults() }

// successor is a type of which PipeCD v0 knew other keys: by name, what holds their content now.
type successor interface{ v0Keys() map[string]string }

var (
	durationType = reflect.TypeFor[Duration]()
	rawType      = reflect.TypeFor[json.RawMessage]()
)

// decoder fills Go values from nodes by their json tags and notes mistakes instead of stopping at one.
// The config tag adds rules: required, oneof=A|B.
type decoder struct {
	file     string
	errors   Errors
	warnings Errors
	// places remembers where each field of the file is, for checks across fields.
	places map[string]position
	// raw holds the values that are kept as JSON, by field.
	raw map[string]*node
	// v0 are the keys of PipeCD v0 that were found.
	v0 Errors
	// wanted is said of a file without keys; empty for what configurations of PipeCD start with.
	wanted string
	// unread are the keys that nothing reads, and values that work for nothing: errors for authors, warnings for
	// agents.
	unread Errors
	// repositories are the ids of repositories besides those of the file.
	repositories []string
	// overflow reports that there are mistakes or warnings beyond maxNoted.
	overflow bool
}

func (d *decoder) errorf(at position, field, format string, args ...any) {
	d.note(&d.errors, at, field, format, args)
}

// missing notes the absence of a key, which is one of the names.
func (d *decoder) missing(at position, field string, names []string, format string, args ...any) {
	before := len(d.errors)
	d.errorf(at, field, format, args...)
	for _, e := range d.errors[before:] {
		e.missing = names
	}
}

func (d *decoder) warnf(at position, field, format string, args ...any) {
	d.note(&d.warnings, at, field, format, args)
}

func (d *decoder) note(list *Errors, at position, field, format string, args []any) {
	if len(*list) >= maxNoted {
		d.overflow = true
		return
	}
	*list = append(*list, &Error{File: d.file, Line: at.line, Column: at.column, Field: field,
		Message: plainerror.Clean(fmt.Sprintf(format, args...))})
}

// place finds the field or the nearest field around it.
func (d *decoder) place(field string) position {
	for field != "" {
		if at, ok := d.places[field]; ok {
			return at
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
	return position{1, 1}
}

// decode stores n in target, which is settable, and whose key is at the path.
func (d *decoder) decode(n *node, target reflect.Value, path string) {
	d.places[path] = n.at
	if n.kind == nullNode {
		return // As if the key were not there: the default stays.
	}
	if target.Type() == rawType {
		d.raw[path] = n
		target.SetBytes(n.json(nil))
		return
	}
	if target.Type() == durationType {
		d.duration(n, target, path)
		return
	}
	switch target.Kind() {
	case reflect.Pointer:
		fresh := reflect.New(target.Type().Elem())
		setDefaults(fresh.Elem())
		d.decode(n, fresh.Elem(), path)
		target.Set(fresh)
	case reflect.Struct:
		d.structure(n, target, path)
	case reflect.Slice:
		d.slice(n, target, path)
	case reflect.Map:
		d.mapping(n, target, path)
	case reflect.String:
		d.text(n, target, path)
	case reflect.Bool:
		if n.kind != boolNode {
			d.errorf(n.at, path, "%s is not allowed here: want true or false", n.describe())
			return
		}
		target.SetBool(n.text == "true")
	case reflect.Float64:
		number, err := strconv.ParseFloat(n.text, 64)
		if (n.kind != integerNode && n.kind != floatNode) || err != nil {
			d.errorf(n.at, path, "%s is not allowed here: want a number", n.describe())
			return
		}
		target.SetFloat(number)
	case reflect.Int:
		number, err := strconv.ParseInt(n.text, 10, 32)
		if n.kind != integerNode || err != nil {
			d.errorf(n.at, path, "%s is not allowed here: want a whole number", n.describe())
			return
		}
		target.SetInt(number)
	}
}

func (d *decoder) structure(n *node, target reflect.Value, path string) {
	if n.kind != mappingNode {
		d.errorf(n.at, path, "%s is not allowed here: want a mapping with keys such as %s", n.describe(),
			exampleKeys(target.Type()))
		return
	}
	known := fieldsOf(target.Type())
	for _, entry := range n.keys {
		index, ok := known[entry.name]
		if !ok {
			if !d.predecessor(entry, target, join(path, entry.name)) {
				d.unknown(entry, known, join(path, entry.name))
			}
			continue
		}
		d.decode(entry.value, target.Field(index), join(path, entry.name))
	}
	for i := range target.NumField() {
		d.rules(n, target.Type().Field(i), target.Field(i), path)
	}
}

// predecessor notes a key that PipeCD v0 knew here.
func (d *decoder) predecessor(entry key, target reflect.Value, field string) bool {
	now, ok := target.Addr().Interface().(successor)
	if !ok || now.v0Keys()[entry.name] == "" {
		return false
	}
	d.places[field] = entry.at
	d.note(&d.v0, entry.at, field,
		"is a key of PipeCD v0 and is not read: its content belongs into %s; \"pipedeck migrate %s\" moves it there",
		[]any{now.v0Keys()[entry.name], d.file})
	return true
}

func (d *decoder) unknown(entry key, known map[string]int, field string) {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	if near := spelling.Nearest(entry.name, names); near != "" {
		d.note(&d.unread, entry.at, field, "unknown key %q is not read; did you mean %q?",
			[]any{shorten(entry.name), near})
		return
	}
	d.note(&d.unread, entry.at, field, "unknown key %q is not read; known keys are %s",
		[]any{shorten(entry.name), strings.Join(names, ", ")})
}

func (d *decoder) rules(n *node, field reflect.StructField, value reflect.Value, path string) {
	name := jsonName(field)
	full := join(path, name)
	for rule := range strings.SplitSeq(field.Tag.Get("config"), ",") {
		if rule == "required" && empty(value) && !d.failed(full) {
			at := n.at
			if child := n.child(name); child != nil {
				at = child.at
			}
			d.missing(at, full, []string{name}, "is required and must not be empty")
		}
		d.names(rule, full, value)
		d.bounds(rule, full, value)
		allowed, ok := strings.CutPrefix(rule, "oneof=")
		if !ok || empty(value) {
			continue
		}
		options := strings.Split(allowed, "|")
		if !slices.Contains(options, value.String()) {
			d.errorf(d.place(full), full, "%q is not allowed here: want %s", shorten(value.String()),
				strings.Join(options, " or "))
		}
	}
}

// names checks names of events. In a route an unknown one is a warning only: it matches nothing, and
// another version of PipeCD may know it.
func (d *decoder) names(rule, field string, value reflect.Value) {
	switch rule {
	case "event", "eventgroup":
		known := NotificationEvents()
		if rule == "eventgroup" {
			known = NotificationGroups()
		}
		for i := range value.Len() {
			if name := value.Index(i).String(); name != "" && !slices.Contains(known, name) {
				at := fmt.Sprintf("%s[%d]", field, i)
				d.warnf(d.place(at), at, "%q matches nothing%s", shorten(name), suggestion(name, known))
			}
		}
	case "mention":
		if name := value.String(); name != "" && name != "*" && !slices.Contains(NotificationEvents(), name) {
			d.errorf(d.place(field), field, "%q is not allowed here%s", shorten(name),
				suggestion(name, append(NotificationEvents(), "*")))
		}
	}
}

// failed reports whether the field has an error already, so that a wrong value is not called missing too.
func (d *decoder) failed(field string) bool {
	return slices.ContainsFunc(d.errors, func(e *Error) bool { return e.Field == field })
}

func (d *decoder) slice(n *node, target reflect.Value, path string) {
	if n.kind != sequenceNode {
		d.errorf(n.at, path, "%s is not allowed here: want a list", n.describe())
		return
	}
	list := reflect.MakeSlice(target.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		setDefaults(list.Index(i))
		at := join(path, fmt.Sprintf("[%d]", i))
		if item.kind == nullNode {
			d.errorf(item.at, at, "an entry of this list is empty")
			continue
		}
		d.decode(item, list.Index(i), at)
	}
	target.Set(list)
}

func (d *decoder) mapping(n *node, target reflect.Value, path string) {
	if n.kind != mappingNode {
		d.errorf(n.at, path, "%s is not allowed here: want a mapping", n.describe())
		return
	}
	values := reflect.MakeMapWithSize(target.Type(), len(n.keys))
	for _, entry := range n.keys {
		value := reflect.New(target.Type().Elem()).Elem()
		d.decode(entry.value, value, join(path, entry.name))
		values.SetMapIndex(reflect.ValueOf(entry.name), value)
	}
	target.Set(values)
}

// text accepts only text: PipeCD's decoder refuses a bare number or boolean, so accepting one here
// would make a file that works in one place only.
func (d *decoder) text(n *node, target reflect.Value, path string) {
	switch n.kind {
	case stringNode:
		target.SetString(n.text)
	case integerNode, floatNode, boolNode:
		d.errorf(n.at, path, "%s is not text: write it in quotes", n.describe())
	default:
		d.errorf(n.at, path, "%s is not allowed here: want text", n.describe())
	}
}

func (d *decoder) duration(n *node, target reflect.Value, path string) {
	switch n.kind {
	case integerNode:
		if nanoseconds, err := strconv.ParseInt(n.text, 10, 64); err == nil && nanoseconds >= 0 {
			if IsHardlyDuration(nanoseconds) {
				d.warnf(n.at, path, "%s", HardlyDuration(n.text))
			}
			target.SetInt(nanoseconds)
			return
		}
	case stringNode:
		if duration, err := time.ParseDuration(n.text); err == nil && duration >= 0 {
			target.SetInt(int64(duration))
			return
		}
	}
	d.errorf(n.at, path, "%s is not a duration: want a text like \"10s\" or \"1h30m\" that is not negative, or "+
		"integer nanoseconds", n.describe())
}

// Defaults returns a new value of the type with the defaults that decoding begins with.
func Defaults(t reflect.Type) reflect.Value {
	value := reflect.New(t).Elem()
	setDefaults(value)
	return value
}

// setDefaults sets the defaults of a value and of the structs in it.
func setDefaults(value reflect.Value) {
	if value.Kind() != reflect.Struct {
		return
	}
	for i := range value.NumField() {
		if value.Field(i).CanSet() {
			setDefaults(value.Field(i))
		}
	}
	if withDefaults, ok := value.Addr().Interface().(defaulter); ok {
		withDefaults.setDefaults()
	}
}

func fieldsOf(t reflect.Type) map[string]int {
	fields := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		if name := jsonName(t.Field(i)); name != "-" {
			fields[name] = i
		}
	}
	return fields
}

func exampleKeys(t reflect.Type) string {
	var names []string
	for i := range t.NumField() {
		if name := jsonName(t.Field(i)); name != "-" && len(names) < 3 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

func empty(value reflect.Value) bool {
	if kind := value.Kind(); kind == reflect.Slice || kind == reflect.Map {
		return value.Len() == 0
	}
	return value.IsZero()
}
