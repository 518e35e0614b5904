// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pipedeck/pipedeck/piped/config/fieldpath"
)

func replaceJSON(content []byte, path, value string) ([]byte, error) {
	steps, err := fieldpath.Parse(path, false)
	if err != nil {
		return nil, err
	}
	root, err := parseJSON(content)
	if err != nil {
		return nil, err
	}
	found, err := find([]*node{root}, steps)
	if err != nil {
		return nil, err
	}
	var spans []span
	for _, n := range found {
		if n.text != value {
			spans = append(spans, span{n.start, n.end, n.json(value)})
		}
	}
	changed := apply(content, spans)
	again, err := parseJSON(changed)
	if err != nil {
		return nil, err
	}
	return changed, verify([]*node{root}, []*node{again}, found, value)
}

// json is the value as it stands in the file: a number in place of a number, else text.
func (n *node) json(value string) string {
	var decoded any
	if !n.style.isText && json.Unmarshal([]byte(value), &decoded) == nil {
		switch decoded.(type) {
		case string, map[string]any, []any:
		default:
			return value
		}
	}
	return quoteJSON(value)
}

// quoteJSON writes a text in double quotes, as JSON and YAML read it.
func quoteJSON(value string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // a string always encodes
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// jsonReader builds nodes from tokens, whose places it works out from what the decoder has read.
type jsonReader struct {
	decoder *json.Decoder
	content []byte
}

func parseJSON(content []byte) (*node, error) {
	r := &jsonReader{json.NewDecoder(bytes.NewReader(content)), content}
	r.decoder.UseNumber()
	root, err := r.value(0)
	if err != nil {
		return nil, fmt.Errorf("the file is not valid JSON: %w", err)
	}
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file is not valid JSON: something follows its end")
	}
	return root, nil
}

func (r *jsonReader) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	before := r.decoder.InputOffset()
	token, err := r.decoder.Token()
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	end := int(r.decoder.InputOffset())
	start := int(before)
	for start < end && bytes.IndexByte([]byte(" \t\r\n,:"), r.content[start]) >= 0 {
		start++
	}
	n := &node{start: start, end: end}
	switch t := token.(type) {
	case json.Delim:
		n.kind = sequence
		if t == '{' {
			n.kind = mapping
		}
		return n, r.inside(n, depth)
	case string:
		n.text, n.style = t, style{quote: '"', isText: true}
	default:
		n.text = string(r.content[start:end])
	}
	return n, nil
}

func (r *jsonReader) inside(n *node, depth int) error {
	for r.decoder.More() {
		if n.kind == mapping {
			key, err := r.decoder.Token()
			if err != nil {
				return err
			}
			n.keys = append(n.keys, fmt.Sprint(key))
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := r.decoder.Token() // the closing bracket
	return err
}
