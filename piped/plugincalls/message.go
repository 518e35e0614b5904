// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugincalls

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	// maxWhole is the size in bytes up to which a message is kept as it is.
	maxWhole = 64 << 10
	// clippedSize is about what is kept of a longer one, with texts of at most clippedText.
	clippedSize = 16 << 10
	clippedText = 1 << 10
)

// message is what is kept of one.
type message struct {
	// kind is that of the message; nil for one that is not there.
	kind protoreflect.MessageType
	data []byte
	// size is that on the wire.
	size    int
	clipped bool
}

// keep encodes a message, with secret values masked. What cannot be encoded has a size only.
func (l *Log) keep(of any) (kept message) {
	m, ok := of.(proto.Message)
	if !ok || m == nil {
		return message{}
	}
	kept = message{kind: m.ProtoReflect().Type()}
	data := []byte{}
	if kept.size = proto.Size(m); kept.size > 0 && kept.size <= maxWhole {
		data, _ = proto.MarshalOptions{UseCachedSize: true}.Marshal(m)
	} else if kept.size > 0 {
		m, kept.clipped = clip(m), true
		data, _ = proto.Marshal(m)
	}
	kept.data = l.masked(m, data)
	return kept
}

// masked is a message on the wire, which is data. The texts of a message stand in it as they are, so one look at the
// whole finds out whether there is anything to mask.
func (l *Log) masked(m proto.Message, data []byte) []byte {
	if text := string(data); l.options.Mask(text) == text {
		return data
	}
	m = proto.Clone(m)
	maskTexts(m.ProtoReflect(), l.options.Mask)
	masked, _ := proto.Marshal(m)
	return masked
}

// maskTexts replaces every text of a message.
func maskTexts(m protoreflect.Message, mask func(string) string) {
	eachValue(m, func(field protoreflect.FieldDescriptor, v protoreflect.Value, put func(protoreflect.Value)) {
		switch field.Kind() {
		case protoreflect.StringKind:
			if masked := mask(v.String()); masked != v.String() {
				put(protoreflect.ValueOfString(strings.ToValidUTF8(masked, "\uFFFD")))
			}
		case protoreflect.BytesKind:
			if masked := mask(string(v.Bytes())); masked != string(v.Bytes()) {
				put(protoreflect.ValueOfBytes([]byte(masked)))
			}
		case protoreflect.MessageKind, protoreflect.GroupKind:
			maskTexts(v.Message(), mask)
		}
	})
}

// eachValue visits the values of a message, those in lists and maps one by one. put replaces the value.
func eachValue(m protoreflect.Message,
	visit func(kind protoreflect.FieldDescriptor, v protoreflect.Value, put func(protoreflect.Value))) {
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.IsMap():
			v.Map().Range(func(key protoreflect.MapKey, inner protoreflect.Value) bool {
				visit(field.MapValue(), inner, func(w protoreflect.Value) { v.Map().Set(key, w) })
				return true
			})
		case field.IsList():
			for i := range v.List().Len() {
				visit(field, v.List().Get(i), func(w protoreflect.Value) { v.List().Set(i, w) })
			}
		default:
			visit(field, v, func(w protoreflect.Value) { m.Set(field, w) })
		}
		return true
	})
}

// clip copies the beginning of a message.
func clip(m proto.Message) proto.Message {
	copied := m.ProtoReflect().New()
	c := clipper{left: clippedSize}
	c.copy(m.ProtoReflect(), copied)
	return copied.Interface()
}

type clipper struct{ left int }

func (c *clipper) copy(from, to protoreflect.Message) {
	from.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.IsMap():
			target := to.Mutable(field).Map()
			v.Map().Range(func(key protoreflect.MapKey, inner protoreflect.Value) bool {
				c.left -= len(key.String())
				target.Set(key, c.value(field.MapValue(), inner, target.NewValue))
				return c.left > 0
			})
		case field.IsList():
			target := to.Mutable(field).List()
			for i := 0; i < v.List().Len() && c.left > 0; i++ {
				target.Append(c.value(field, v.List().Get(i), target.NewElement))
			}
		default:
			to.Set(field, c.value(field, v, func() protoreflect.Value { return to.NewField(field) }))
		}
		return c.left > 0
	})
}

func (c *clipper) value(field protoreflect.FieldDescriptor, v protoreflect.Value,
	empty func() protoreflect.Value) protoreflect.Value {
	c.left -= 8
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(c.text(v.String()))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(c.text(string(v.Bytes()))))
	case protoreflect.MessageKind, protoreflect.GroupKind:
		inner := empty()
		c.copy(v.Message(), inner.Message())
		return inner
	}
	return v
}

// text is the beginning of a long text and its length.
func (c *clipper) text(s string) string {
	if len(s) > clippedText {
		end := clippedText
		for end > clippedText-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + fmt.Sprintf("… (%d bytes in all)", len(s))
	}
	c.left -= len(s)
	return s
}
