// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Unread reports which options in the `with` of a stage no one reads, a sentence for each. PipeCD v1 skips them in
// silence, and so does the decoding; a sentence in the log distinguishes a slip from a setting.
func Unread(stage string, with []byte) []string {
	var given map[string]any
	if len(with) == 0 || json.Unmarshal(with, &given) != nil { // which is an error elsewhere
		return nil
	}
	// it gets those of the pipeline's first stage, which names them
	if name, _ := SingleName(stage); name == StageRollback {
		return nil
	}
	read := map[string]reflect.Type{}
	for _, options := range []map[string]any{StageOptions(), MultiStageOptions()} {
		if of, ok := options[stage]; ok {
			keys(reflect.TypeOf(of), read)
		}
	}
	return unread("with", given, read)
}

func unread(path string, given map[string]any, read map[string]reflect.Type) (sentences []string) {
	known := slices.Sorted(maps.Keys(read))
	for _, key := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, key) }) // as encoding/json reads
		switch {
		case i >= 0:
			sentences = append(sentences, unreadBelow(path+"."+key, given[key], read[known[i]])...)
		case len(known) == 0:
			sentences = append(sentences, fmt.Sprintf("%s.%s is not read: there are no options here", path, key))
		default:
			sentences = append(sentences, fmt.Sprintf("%s.%s is not read: the options here are %s", path, key,
				strings.Join(known, ", ")))
		}
	}
	return sentences
}

// unreadBelow inspects lists and mappings whose form is known.
func unreadBelow(path string, value any, form reflect.Type) (sentences []string) {
	for form.Kind() == reflect.Pointer {
		form = form.Elem()
	}
	if reflect.PointerTo(form).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	switch form.Kind() {
	case reflect.Slice:
		list, _ := value.([]any)
		for i, item := range list {
			sentences = append(sentences, unreadBelow(fmt.Sprintf("%s[%d]", path, i), item, form.Elem())...)
		}
	case reflect.Struct:
		if given, ok := value.(map[string]any); ok {
			read := map[string]reflect.Type{}
			keys(form, read)
			sentences = unread(path, given, read)
		}
	}
	return sentences
}

// keys adds the keys that a struct is decoded from, and what they hold.
func keys(t reflect.Type, into map[string]reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name != "":
			into[name] = field.Type
		case field.Anonymous:
			keys(field.Type, into)
		}
	}
}
