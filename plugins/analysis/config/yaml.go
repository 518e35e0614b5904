// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
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
		ast.Walk(numbers{}, file.Docs[0].Body)
		if err := yaml.NodeToValue(file.Docs[0].Body, &value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(value)
}

// exponent is a number of YAML that the library takes for text, because it has no dot before its exponent.
var exponent = regexp.MustCompile(`^[-+]?[0-9]+[eE][-+]?[0-9]+$`)

// numbers makes numbers of such texts, as piped does.
type numbers struct{}

// Visit looks at the values of mappings, which is where a configuration has numbers.
func (v numbers) Visit(node ast.Node) ast.Visitor {
	entry, is := node.(*ast.MappingValueNode)
	if !is {
		return v
	}
	text, is := entry.Value.(*ast.StringNode)
	if !is || text.GetToken().Type != token.StringType || !exponent.MatchString(text.Value) {
		return v
	}
	if value, err := strconv.ParseFloat(text.Value, 64); err == nil {
		entry.Value = &ast.FloatNode{BaseNode: &ast.BaseNode{}, Token: text.Token, Value: value}
	}
	return v
}
