// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// freeText names the fields that people and programs write for people. All others are names, which have to
// stay what they are even when someone has encrypted the same word.
var freeText = map[protoreflect.Name]bool{
	"log": true, "reason": true, "short_reason": true, "status_reason": true, "status_description": true,
	"health_description": true, "summary": true, "strategy_summary": true, "message": true, "detail": true,
	"description": true, "desc": true, "config": true, "output": true, "last_output": true,
	"metadata": true, "keyValues": true, "resource_metadata": true,
	"git_value": true, "live_value": true, "applied_value": true, "refused": true,
}

// address names the fields that may hold a password, in front of an "@".
var address = map[protoreflect.Name]bool{"remote": true, "url": true}

// Message is the message with secrets masked in its free text: itself when there is none, else a copy.
func (m *Masker) Message(message proto.Message) proto.Message {
	if !m.maskFields(message.ProtoReflect(), false) {
		return message
	}
	masked := proto.Clone(message)
	m.maskFields(masked.ProtoReflect(), true)
	return masked
}

// maskFields reports whether a secret stands in a message, and with change masks it.
func (m *Masker) maskFields(message protoreflect.Message, change bool) (found bool) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		replace := func(put func(protoreflect.Value)) func(protoreflect.Value) {
			if !change {
				return nil
			}
			return put
		}
		switch {
		case field.IsMap():
			value.Map().Range(func(key protoreflect.MapKey, inner protoreflect.Value) bool {
				found = m.maskValue(
					field, field.MapValue(), inner, replace(func(v protoreflect.Value) { value.Map().Set(key, v) }),
				) || found
				return true
			})
		case field.IsList():
			for i := range value.List().Len() {
				found = m.maskValue(
					field, field, value.List().Get(i), replace(func(v protoreflect.Value) { value.List().Set(i, v) }),
				) || found
			}
		default:
			found = m.maskValue(
				field, field, value, replace(func(v protoreflect.Value) { message.Set(field, v) }),
			) || found
		}
		return true
	})
	return found
}

// maskValue reports whether a secret stands in one value of a field, whose kind is described by of, and puts
// the masked value in its place unless put is nil.
func (m *Masker) maskValue(
	field, of protoreflect.FieldDescriptor, value protoreflect.Value, put func(protoreflect.Value),
) (found bool) {
	var text string
	switch of.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return m.maskFields(value.Message(), put != nil)
	case protoreflect.StringKind:
		text = value.String()
	case protoreflect.BytesKind:
		text = string(value.Bytes())
	}
	if !freeText[field.Name()] && !(address[field.Name()] && strings.Contains(text, "@")) {
		return false
	}
	masked := m.Mask(text)
	switch {
	case masked == text:
		return false
	case put == nil:
	case of.Kind() == protoreflect.BytesKind:
		put(protoreflect.ValueOfBytes([]byte(masked)))
	default:
		put(protoreflect.ValueOfString(masked))
	}
	return true
}
