// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// options writes each option that is set as NAME = VALUE, in the order of their numbers.
func (p *printer) options(of proto.Message) []string {
	var written []string
	for _, field := range setFields(of.ProtoReflect()) {
		value := of.ProtoReflect().Get(field)
		name := string(field.Name())
		if field.IsExtension() {
			name = "(" + string(field.FullName()) + ")"
		}
		if !field.IsList() {
			written = append(written, name+" = "+p.value(field, value))
			continue
		}
		for i := range value.List().Len() {
			written = append(written, name+" = "+p.value(field, value.List().Get(i)))
		}
	}
	return written
}

// setFields returns the fields that a message has, in the order of their numbers.
func setFields(m protoreflect.Message) []protoreflect.FieldDescriptor {
	var fields []protoreflect.FieldDescriptor
	if !m.IsValid() {
		return nil
	}
	m.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		fields = append(fields, field)
		return true
	})
	slices.SortFunc(fields, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number() - b.Number()) })
	return fields
}

// value writes one value as it stands behind the = of an option, or behind the colon of a field in it.
func (p *printer) value(field protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch field.Kind() {
	case protoreflect.StringKind:
		return strconv.Quote(value.String())
	case protoreflect.EnumKind:
		if named := field.Enum().Values().ByNumber(value.Enum()); named != nil {
			return string(named.Name())
		}
		return strconv.Itoa(int(value.Enum()))
	case protoreflect.MessageKind:
		message := value.Message()
		var fields []string
		for _, inner := range setFields(message) {
			if inner.IsList() || inner.IsMap() || inner.IsExtension() {
				p.fail("an option has the field %s, which is a list or an extension", inner.FullName())
				continue
			}
			fields = append(fields, string(inner.Name())+": "+p.value(inner, message.Get(inner)))
		}
		return "{ " + strings.Join(fields, ", ") + " }"
	case protoreflect.BytesKind, protoreflect.GroupKind:
		p.fail("an option has the field %s of the kind %s", field.FullName(), field.Kind())
	}
	return value.String()
}
