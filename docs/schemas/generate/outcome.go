// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"path/filepath"

	cli "github.com/pipedeck/pipedeck/tui/document"
)

// outcomeLine adds the schema of the event line of a result of ci, which is an application of its report without the
// stages, to definitions, and returns the reference to it.
func outcomeLine(root string, definitions object) (object, error) {
	data, err := os.ReadFile(filepath.Join(root, published, "ci-report.json"))
	if err != nil {
		return nil, err
	}
	report, err := decoded(data)
	if err != nil {
		return nil, err
	}
	parts := report["definitions"].(object)
	open(parts)
	line := parts["application"].(object)
	delete(parts, "application")
	delete(parts, "stage")
	maps.Copy(definitions, parts)
	properties := line["properties"].(object)
	delete(properties, "stages")
	properties["time"] = object{"type": "string", "format": "date-time", "description": "When it happened."}
	properties["type"] = object{"type": "string", "const": "outcome", "description": "The kind of the line."}
	properties["schema"] = object{"type": "integer", "const": cli.Schema,
		"description": "The version of the form of the line: 1."}
	required := []any{"time", "type", "schema"}
	for _, name := range line["required"].([]any) {
		if name != "stages" {
			required = append(required, name)
		}
	}
	line["required"] = required
	definitions["OutcomeLine"] = line
	return object{"$ref": "#/definitions/OutcomeLine"}, nil
}
