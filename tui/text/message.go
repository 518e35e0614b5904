// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// CleanMessage cleans every string in m, in place, at any depth. Doing it where messages come in
// means that no view can forget it.
func CleanMessage(m proto.Message) { cleanFields(m.ProtoReflect()) }

func cleanFields(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			cleanMap(field, value.Map())
		case field.IsList():
			cleanList(field, value.List())
		case field.Kind() == protoreflect.StringKind:
			if cleaned := Clean(value.String()); cleaned != value.String() {
				m.Set(field, protoreflect.ValueOfString(cleaned))
			}
		case field.Kind() == protoreflect.MessageKind:
			cleanFields(value.Message())
		}
		return true
	})
}

func cleanList(field protoreflect.FieldDescriptor, list protoreflect.List) {
	for i := range list.Len() {
		switch field.Kind() {
		case protoreflect.StringKind:
			list.Set(i, protoreflect.ValueOfString(Clean(list.Get(i).String())))
		case protoreflect.MessageKind:
			cleanFields(list.Get(i).Message())
		}
	}
}

// cleanMap rebuilds maps of strings, because their keys may need cleaning too.
func cleanMap(field protoreflect.FieldDescriptor, entries protoreflect.Map) {
	if field.MapKey().Kind() != protoreflect.StringKind || field.MapValue().Kind() != protoreflect.StringKind {
		return
	}
	cleaned := map[string]string{}
	entries.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
		cleaned[Clean(key.String())] = Clean(value.String())
		return true
	})
	entries.Range(func(key protoreflect.MapKey, _ protoreflect.Value) bool {
		entries.Clear(key)
		return true
	})
	for key, value := range cleaned {
		entries.Set(protoreflect.ValueOfString(key).MapKey(), protoreflect.ValueOfString(value))
	}
}
