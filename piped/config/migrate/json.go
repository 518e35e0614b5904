// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// asJSON turns the YAML that came of a JSON file into JSON again: on one line when the source is, else
// with two blanks a level. The order of keys stays.
func asJSON(text, source string) (string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return "", fmt.Errorf("cannot be written as JSON again: %w", err)
	}
	var b, indented bytes.Buffer
	for _, root := range document.Content {
		if err := writeJSON(&b, root); err != nil {
			return "", err
		}
	}
	if !strings.Contains(source, "\n") {
		return b.String(), nil
	}
	if err := json.Indent(&indented, b.Bytes(), "", "  "); err != nil {
		return "", fmt.Errorf("cannot be written as JSON again: %w", err)
	}
	return indented.String(), nil
}

func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeText(b, n.Content[i].Value); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeJSON(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		if n.Tag == "!!str" || !json.Valid([]byte(n.Value)) {
			return writeText(b, n.Value)
		}
		b.WriteString(n.Value)
	default:
		return fmt.Errorf("line %d cannot be written as JSON", n.Line)
	}
	return nil
}

func writeText(b *bytes.Buffer, text string) error {
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // The line feed that Encode adds.
	return nil
}
