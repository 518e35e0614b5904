// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugincalls

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pipedeck/pipedeck/piped/secrets"
)

// known finds secrets by their form: passwords in addresses, and private keys.
var known = []*regexp.Regexp{
	regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+(@)`),
	regexp.MustCompile(`(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----)`),
}

// shown masks a text once more, with the secrets that became known after it was kept.
func (l *Log) shown(text string) string {
	text = l.options.Mask(text)
	for _, pattern := range known {
		text = pattern.ReplaceAllString(text, "${1}"+secrets.Mask+"${2}")
	}
	return text
}

// render returns a message on the wire and in JSON.
func (l *Log) render(kept message) (data []byte, text string, clipped bool) {
	if kept.kind == nil || kept.data == nil {
		return nil, "", kept.clipped
	}
	m := kept.kind.New().Interface()
	if proto.Unmarshal(kept.data, m) != nil {
		return nil, "", true
	}
	maskTexts(m.ProtoReflect(), l.shown)
	data, err := proto.Marshal(m)
	if err != nil {
		return nil, "", true
	}
	return data, Readable(m), kept.clipped
}

// Readable returns the JSON of a message. Bytes that hold JSON or a text are shown as such.
func Readable(m proto.Message) string {
	data, err := protojson.Marshal(m)
	if err != nil {
		return ""
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return string(data)
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if encoder.Encode(decoded(m.ProtoReflect().Descriptor(), value)) != nil {
		return string(data)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// decoded replaces the bytes in the JSON of a message. Messages with a special JSON form, such as times, stay as they
// are.
func decoded(of protoreflect.MessageDescriptor, value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	for i := range of.Fields().Len() {
		field := of.Fields().Get(i)
		inner, there := object[field.JSONName()]
		if !there {
			continue
		}
		if field.IsMap() {
			if entries, ok := inner.(map[string]any); ok {
				for key, v := range entries {
					entries[key] = decodedValue(field.MapValue(), v)
				}
			}
			continue
		}
		if list, ok := inner.([]any); ok && field.IsList() {
			for j, v := range list {
				list[j] = decodedValue(field, v)
			}
			continue
		}
		object[field.JSONName()] = decodedValue(field, inner)
	}
	return object
}

func decodedValue(field protoreflect.FieldDescriptor, value any) any {
	switch field.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return decoded(field.Message(), value)
	case protoreflect.BytesKind:
		text, _ := value.(string)
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil || !utf8.Valid(data) {
			return value
		}
		if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') &&
			json.Valid(trimmed) {
			return json.RawMessage(trimmed)
		}
		return string(data)
	}
	return value
}
