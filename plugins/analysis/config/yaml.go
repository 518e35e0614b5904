// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"github.com/pipedeck/pipedeck/system/yamlnumber"
)

// toJSON reads the first document of YAML. It decodes before it encodes: the library's own conversion writes escapes of
// YAML, such as \e, which JSON does not have.
func toJSON(document []byte) ([]byte, error) {
	file, err := parser.ParseBytes(document, 0)
	if err != nil {
		return nil, err
	}
	var value any
	if len(file.Docs) > 0 && file.Docs[0].Body != nil {
		yamlnumber.Convert(file.Docs[0].Body)
		if err := yaml.NodeToValue(file.Docs[0].Body, &value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(value)
}
