// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decodeJSON reads the objects of a file one after the other. It stands next to decodeYAML because YAML refuses the
// tabs that JSON files are often indented with.
func decodeJSON(data []byte, file string) ([]document, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var documents []document
	for {
		rest := data[decoder.InputOffset():]
		start := decoder.InputOffset() + int64(len(rest)-len(bytes.TrimLeft(rest, " \t\r\n")))
		var value any
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, jsonError(data, file, decoder.InputOffset(), err)
		}
		if value == nil {
			continue
		}
		if value, err = numbers(value); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		documents = append(documents, document{value: value, line: lineAt(data, start)})
	}
}

func jsonError(data []byte, file string, offset int64, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	return fmt.Errorf("%s:%d: not valid JSON: %w", file, lineAt(data, offset), err)
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
}

// numbers turns json.Number into int64 where it fits, else float64.
func numbers(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i, nil
		}
		return v.Float64()
	case map[string]any:
		for key, item := range v {
			n, err := numbers(item)
			if err != nil {
				return nil, err
			}
			v[key] = n
		}
	case []any:
		for i, item := range v {
			n, err := numbers(item)
			if err != nil {
				return nil, err
			}
			v[i] = n
		}
	}
	return v, nil
}
