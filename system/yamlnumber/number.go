// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package yamlnumber

import (
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// exponent is such a number.
var exponent = regexp.MustCompile(`^[-+]?[0-9]+[eE][-+]?[0-9]+$`)

// Of returns the number that a text is; is reports whether it is one. A number that is too great stays text
// (PipeCD v1), as does what is in quotes.
func Of(text *ast.StringNode) (value float64, is bool) {
	if text.GetToken().Type != token.StringType || !exponent.MatchString(text.Value) {
		return 0, false
	}
	value, err := strconv.ParseFloat(text.Value, 64)
	return value, err == nil
}

// Convert makes numbers of such texts wherever a value can stand in a tree: in mappings, in lists, and behind anchors.
// Keys stay as they are written, as does what has a tag.
func Convert(tree ast.Node) { ast.Walk(converter{}, tree) }

type converter struct{}

// Visit converts the values that a node holds.
func (c converter) Visit(node ast.Node) ast.Visitor {
	switch holder := node.(type) {
	case *ast.MappingValueNode:
		holder.Value = converted(holder.Value)
	case *ast.AnchorNode:
		holder.Value = converted(holder.Value)
	case *ast.SequenceNode:
		for i, item := range holder.Values {
			holder.Values[i] = converted(item)
		}
	case *ast.TagNode:
		return nil
	}
	return c
}

func converted(node ast.Node) ast.Node {
	text, is := node.(*ast.StringNode)
	if !is {
		return node
	}
	value, is := Of(text)
	if !is {
		return node
	}
	return &ast.FloatNode{BaseNode: &ast.BaseNode{}, Token: text.Token, Value: value}
}
