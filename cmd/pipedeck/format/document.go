// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// writeJSON writes an indented document. Nothing in it steers a terminal.
func writeJSON(w io.Writer, document any) error {
	data, err := encode(document, "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// Line writes an event line: JSON in one line.
func Line(w io.Writer, line any) error {
	data, err := encode(line, "")
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func encode(document any, indent string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	return escaped(b.Bytes()), nil
}

// escaped escapes the control characters that JSON allows in strings: DEL, and U+0080 to U+009F, whose first byte in
// UTF-8 is 0xC2.
func escaped(data []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(data); i++ {
		size, code := 0, rune(0)
		switch {
		case data[i] == 0x7f:
			size, code = 1, 0x7f
		case data[i] == 0xc2 && i+1 < len(data) && data[i+1] < 0xa0:
			size, code = 2, rune(data[i+1])
		default:
			continue
		}
		out = append(out, data[from:i]...)
		out = fmt.Appendf(out, "\\u%04x", code)
		i += size - 1
		from = i + 1
	}
	if from == 0 {
		return data
	}
	return append(out, data[from:]...)
}

// writeYAML writes the same document as writeJSON, with its keys in the same order.
func writeYAML(w io.Writer, document any) error {
	data, err := encode(document, "")
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	node, err := yamlNode(decoder)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(node), encoder.Close()); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// yamlNode reads the next value.
func yamlNode(decoder *json.Decoder) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch value := token.(type) {
	case json.Delim:
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if value == '[' {
			node = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		}
		for decoder.More() {
			one, err := yamlNode(decoder) // keys and values of an object follow each other
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, one)
		}
		if len(node.Content) == 0 {
			node.Style = yaml.FlowStyle
		}
		_, err = decoder.Token() // the closing bracket
		return node, err
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}, nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: value.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(value)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}
