// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/pipedeck/pipedeck/piped/config/fieldpath"
)

// replaceHCL follows a path of block types, labels, an attribute and, in its value, keys and numbers, as in
// module.shop.image or resource.aws_instance.web.tags.version. Blocks of the same type and labels are distinguished
// apart by a number: ingress[1].port.
func replaceHCL(content []byte, path, value string) ([]byte, error) {
	steps, err := fieldpath.Parse(path, true)
	if err != nil {
		return nil, err
	}
	body, err := parseHCL(content)
	if err != nil {
		return nil, err
	}
	places, err := findHCL(body, steps)
	if err != nil {
		return nil, err
	}
	place := places[0]
	current, text, err := literal(content, place)
	if err != nil {
		return nil, err
	}
	if current == value {
		return content, nil
	}
	at := place.Range()
	changed := apply(content, []span{{at.Start.Byte, at.End.Byte, hclValue(value, text)}})
	return changed, verifyHCL(changed, steps, value)
}

func parseHCL(content []byte) (*hclsyntax.Body, error) {
	if depthOf(content) > maxDepth {
		return nil, fmt.Errorf("the file is not valid HCL: nested more than %d deep", maxDepth)
	}
	file, problems := hclsyntax.ParseConfig(content, "file", hcl.InitialPos)
	if problems.HasErrors() {
		return nil, fmt.Errorf("the file is not valid HCL: %s", problems[0].Error())
	}
	return file.Body.(*hclsyntax.Body), nil
}

// depthOf is an upper bound of the nesting: the parser recurses for each bracket and for the operators of a
// line, without a separate bound.
func depthOf(content []byte) int {
	deepest, brackets, operators := 0, 0, 0
	for _, c := range content {
		switch c {
		case '(', '[', '{':
			brackets++
		case ')', ']', '}':
			brackets = max(brackets-1, 0)
		case '!', '-', '?':
			operators++
		case '\n':
			operators = 0
		}
		deepest = max(deepest, brackets+operators)
	}
	return deepest
}

// findHCL returns the one expression that the path leads to.
func findHCL(body *hclsyntax.Body, steps []fieldpath.Step) ([]hclsyntax.Expression, error) {
	found := inBody(body, steps)
	switch len(found) {
	case 0:
		return nil, errors.New("there is no such field in the file")
	case 1:
		return found, nil
	}
	return nil, fmt.Errorf("%d fields of the file match; number the blocks, as in block[0]", len(found))
}

func inBody(body *hclsyntax.Body, steps []fieldpath.Step) []hclsyntax.Expression {
	if len(steps) == 0 || steps[0].Name == "" || steps[0].All || steps[0].Deep {
		return nil
	}
	var found []hclsyntax.Expression
	if attribute, ok := body.Attributes[steps[0].Name]; ok {
		found = inExpression(attribute.Expr, steps[1:])
	}
	seen := map[string]int{}
	for _, block := range body.Blocks {
		rest, ok := behindLabels(block, steps)
		if !ok {
			continue
		}
		number := seen[block.Type]
		seen[block.Type]++
		if len(rest) > 0 && rest[0].Name == "" && !rest[0].All {
			if rest[0].Index != number {
				continue
			}
			rest = rest[1:]
		}
		found = append(found, inBody(block.Body, rest)...)
	}
	return found
}

// behindLabels returns the steps after the type and the labels of the block.
func behindLabels(block *hclsyntax.Block, steps []fieldpath.Step) ([]fieldpath.Step, bool) {
	names := append([]string{block.Type}, block.Labels...)
	if len(steps) < len(names) {
		return nil, false
	}
	for i, name := range names {
		if steps[i].Name != name {
			return nil, false
		}
	}
	return steps[len(names):], true
}

func inExpression(e hclsyntax.Expression, steps []fieldpath.Step) []hclsyntax.Expression {
	if inner, ok := e.(*hclsyntax.ParenthesesExpr); ok {
		return inExpression(inner.Expression, steps)
	}
	if len(steps) == 0 {
		return []hclsyntax.Expression{e}
	}
	switch value := e.(type) {
	case *hclsyntax.ObjectConsExpr:
		for _, item := range value.Items {
			key, problems := item.KeyExpr.Value(nil)
			if !problems.HasErrors() && key.Type() == cty.String && key.IsKnown() && !key.IsNull() &&
				key.AsString() == steps[0].Name && steps[0].Name != "" {
				return inExpression(item.ValueExpr, steps[1:])
			}
		}
	case *hclsyntax.TupleConsExpr:
		if steps[0].Name == "" && !steps[0].All && steps[0].Index < len(value.Exprs) {
			return inExpression(value.Exprs[steps[0].Index], steps[1:])
		}
	}
	return nil
}

// literal returns the present value, and whether it is text. What is computed is not replaced.
func literal(content []byte, e hclsyntax.Expression) (value string, text bool, err error) {
	switch e.(type) {
	case *hclsyntax.TemplateExpr, *hclsyntax.LiteralValueExpr, *hclsyntax.UnaryOpExpr:
	default:
		return "", false, errors.New("the field is not a single value that is written out; only those can be replaced")
	}
	at := e.Range()
	if bytes.HasPrefix(content[at.Start.Byte:at.End.Byte], []byte("<<")) {
		return "", false, errors.New("the field is a block of lines (<<); write it in quotes to have it replaced")
	}
	found, problems := e.Value(nil)
	if problems.HasErrors() {
		return "", false, errors.New(
			"the field is computed from others; only values that are written out can be replaced",
		)
	}
	if found.IsNull() {
		return "", false, nil
	}
	asText, err := convert.Convert(found, cty.String)
	if err != nil {
		return "", false, errors.New("the field is not a single value")
	}
	return asText.AsString(), found.Type() == cty.String, nil
}

// hclValue is the value as it stands in the file: a number in place of a number, else text.
func hclValue(value string, text bool) string {
	_, number := strconv.ParseFloat(value, 64)
	if !text && (value == "true" || value == "false" || number == nil && decimal(value)) {
		return value
	}
	return string(hclwrite.TokensForValue(cty.StringVal(value)).Bytes())
}

// decimal refuses the forms of Go that HCL does not know (hexadecimal, infinity, underscores).
func decimal(value string) bool {
	for _, c := range []byte(value) {
		if (c < '0' || c > '9') && bytes.IndexByte([]byte(".eE+-"), c) < 0 {
			return false
		}
	}
	return value != "" && value[0] != '.' && value[0] != '+'
}

func verifyHCL(changed []byte, steps []fieldpath.Step, value string) error {
	body, err := parseHCL(changed)
	if err != nil {
		return fmt.Errorf("the value cannot stand there: %w", err)
	}
	places, err := findHCL(body, steps)
	if err != nil {
		return fmt.Errorf("the value cannot stand there: %w", err)
	}
	now, text, err := literal(changed, places[0])
	if err != nil || text && now != value {
		return errors.New("the value cannot stand there: the file would say something else")
	}
	return nil
}
