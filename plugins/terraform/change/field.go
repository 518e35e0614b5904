// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
)

const (
	// maxFields bounds the fields that are shown of a resource.
	maxFields = 50
	// maxValue bounds a value that is shown, in bytes.
	maxValue = 1 << 10
	// sensitive stands for a value that no one may see, unknown for one that only the apply finds out.
	sensitive = "(sensitive value)"
	unknown   = "(known after apply)"
)

// Field is one field of a resource, with its values as JSON. An empty value says that the field is absent.
type Field struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Forces is whether the change of this field replaces the resource.
	Forces bool `json:"forces,omitempty"`
	// Secret says that the values are sensitive; they differ nevertheless.
	Secret bool `json:"secret,omitempty"`
	// Applied is the value that was applied last, where the plan says that someone has changed it since; else empty.
	Applied string `json:"-"`
}

// sides are the values of one place in a change.
type sides struct {
	before, after, unknown, secretBefore, secretAfter any
}

// secret is whether one of the values is sensitive as a whole.
func (s sides) secret() bool { return s.secretBefore == true || s.secretAfter == true }

func sidesOf(c *tfjson.Change) sides {
	return sides{c.Before, c.After, c.AfterUnknown, c.BeforeSensitive, c.AfterSensitive}
}

// fieldsOf returns the fields in which a resource changes, the first ones, and how many more there are.
func fieldsOf(c *tfjson.Change, secret values) (fields []Field, more int) {
	w := walk{forces: forcing(c), secret: secret.with(c)}
	w.into("", sidesOf(c))
	if len(w.fields) > maxFields {
		return w.fields[:maxFields], len(w.fields) - maxFields
	}
	return w.fields, 0
}

// wholeField is an output as one field.
func wholeField(name string, c *tfjson.Change, secret values) Field {
	return sidesOf(c).field(name, false, secret.with(c))
}

// walk collects fields.
type walk struct {
	forces map[string]bool
	secret values
	fields []Field
}

// into goes down to where values differ.
func (w *walk) into(path string, s sides) {
	if s.unknown != true && !s.secret() && reflect.DeepEqual(s.before, s.after) && !anyTrue(s.unknown) {
		return
	}
	before, isBefore := s.before.(map[string]any)
	after, isAfter := s.after.(map[string]any)
	mapped := (isBefore || s.before == nil) && (isAfter || s.after == nil) && (isBefore || isAfter)
	if mapped && s.unknown != true && !s.secret() {
		keys := map[string]bool{}
		for key := range before {
			keys[key] = true
		}
		for key := range after {
			keys[key] = true
		}
		hidden, _ := s.unknown.(map[string]any)
		for key := range hidden {
			keys[key] = true
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			w.into(join(path, key), s.at(key))
		}
		return
	}
	if s.before == nil && s.after == nil && s.unknown != true {
		return
	}
	if s.secret() && s.unknown != true && reflect.DeepEqual(s.before, s.after) {
		return
	}
	w.fields = append(w.fields, s.field(path, w.forces[path], w.secret))
}

// at are the sides of a key of a map.
func (s sides) at(key string) sides {
	return sides{child(s.before, key), child(s.after, key), child(s.unknown, key), child(s.secretBefore, key),
		child(s.secretAfter, key)}
}

func (s sides) field(path string, forces bool, secret values) Field {
	f := Field{Path: path, Forces: forces}
	before, after := false, false
	f.Before, before = secret.text(s.before)
	f.After, after = secret.text(s.after)
	f.Secret = before || after
	if s.unknown == true || anyTrue(s.unknown) {
		f.After = unknown
	}
	if anyTrue(s.secretBefore) || anyTrue(s.secretAfter) {
		f.Secret = true
		if f.Before != "" {
			f.Before = sensitive
		}
		if f.After != "" && f.After != unknown {
			f.After = sensitive
		}
	}
	return f
}

func child(value any, key string) any {
	if value == true {
		return true
	}
	in, _ := value.(map[string]any)
	return in[key]
}

// anyTrue is whether a tree of booleans has a true one.
func anyTrue(value any) bool {
	switch v := value.(type) {
	case bool:
		return v
	case map[string]any:
		for _, one := range v {
			if anyTrue(one) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, anyTrue)
	}
	return false
}

// text is a value as JSON, empty for none.
func text(value any) string {
	if value == nil {
		return ""
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}

// cut bounds a value that is shown.
func cut(value string) string {
	if len(value) <= maxValue {
		return value
	}
	return strings.ToValidUTF8(value[:maxValue], "") + "…"
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// forcing are the paths of fields whose change replaces the resource. Those below a list are the list, which is one
// field here.
func forcing(c *tfjson.Change) map[string]bool {
	paths := map[string]bool{}
	for _, raw := range c.ReplacePaths {
		path := ""
		steps, _ := raw.([]any)
		for _, step := range steps {
			key, is := step.(string)
			if !is {
				break
			}
			path = join(path, key)
			paths[path] = true
		}
	}
	return paths
}

// quoted is a name for people.
func quoted(name string) string { return strconv.Quote(name) }
