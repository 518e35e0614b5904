// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// differing is what differs from run to run, and what stands for it.
var differing = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?`), "<time>"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d(\.\d+)?\b`), "<time>"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "<id>"},
	{regexp.MustCompile(`\b1[5-9]\d{8}(\d{3}|\d{6}|\d{9})?\b`), "<time>"},
	{regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?(ns|µs|ms|s)\b`), "<duration>"},
	{regexp.MustCompile(`\b(127\.0\.0\.1|localhost):\d+\b`), "<address>"},
}

// inPlace hides where sources were.
func inPlace(text string, dirs []string) string {
	for _, dir := range dirs {
		text = strings.ReplaceAll(text, dir, "<source>")
	}
	return text
}

// normalize replaces what may differ.
func normalize(text string, ignore []*regexp.Regexp) string {
	for _, pattern := range ignore {
		text = pattern.ReplaceAllString(text, "<ignored>")
	}
	for _, d := range differing {
		text = d.pattern.ReplaceAllString(text, d.instead)
	}
	return text
}

// render shows a message to a person who compares: keys in order, long texts line by line.
func render(message proto.Message) string {
	data, err := protojson.Marshal(message)
	if err != nil {
		return err.Error()
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err.Error()
	}
	text, err := yaml.MarshalWithOptions(readable("", value), yaml.UseLiteralStyleIfMultiline(true),
		yaml.IndentSequence(true))
	if err != nil {
		return string(data)
	}
	return string(text)
}

// readable decodes the bytes that hold a text for users.
func readable(key string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for k, inner := range v {
			v[k] = readable(k, inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = readable(key, inner)
		}
	case string:
		if key == "details" {
			if data, err := base64.StdEncoding.DecodeString(v); err == nil && utf8.Valid(data) {
				return string(data)
			}
		}
	}
	return value
}
