// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// unknown returns the variables of a text that have no value, each once. Addresses of Services are known when the stage
// begins. A text whose variables cannot be read has none; anyArgs takes arguments of any name.
func (v Variables) unknown(text string, anyArgs bool) []string {
	parsed, err := template.New("text").Parse(text)
	if err != nil || parsed.Tree == nil {
		return nil
	}
	var found []string
	for _, field := range fieldsOf(parsed.Root) {
		name := "." + strings.Join(field, ".")
		if !v.has(field, anyArgs) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

// has is whether a variable has a value, or may have one.
func (v Variables) has(field []string, anyArgs bool) bool {
	names := map[string][]string{"App": {"Name", "Env"}, "Variant": {"Name"}, "K8s": {"Namespace"}}
	args := map[string]map[string]string{
		"VariantCustomArgs": v.VariantCustomArgs, "VariantArgs": v.VariantArgs,
		"AppCustomArgs": v.AppCustomArgs, "AppArgs": v.AppArgs, "Variant": v.Variant, "K8s": v.K8s,
	}
	given, isArgs := args[field[0]]
	switch {
	case field[0] == "Services":
		return len(field) <= 2
	case len(field) == 1:
		return isArgs || names[field[0]] != nil
	case len(field) > 2:
		return false
	case isArgs:
		_, is := given[field[1]]
		return is || anyArgs && (names[field[0]] == nil || slices.Contains(names[field[0]], field[1]))
	}
	return slices.Contains(names[field[0]], field[1])
}

// fieldsOf are the fields that a template always reads from its variables. What it may leave out is not among them: the
// branches of if, range and with, and what and and or read after their first argument.
func fieldsOf(node parse.Node) [][]string {
	var fields [][]string
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		for _, each := range n.Nodes {
			fields = append(fields, fieldsOf(each)...)
		}
	case *parse.ActionNode:
		return fieldsOf(n.Pipe)
	case *parse.IfNode:
		return fieldsOf(n.Pipe)
	case *parse.RangeNode:
		return fieldsOf(n.Pipe)
	case *parse.WithNode:
		return fieldsOf(n.Pipe)
	case *parse.PipeNode:
		for _, command := range n.Cmds {
			fields = append(fields, fieldsOf(command)...)
		}
	case *parse.CommandNode:
		args := n.Args
		if name, ok := args[0].(*parse.IdentifierNode); ok && (name.Ident == "and" || name.Ident == "or") {
			args = args[:min(len(args), 2)]
		}
		for _, arg := range args {
			fields = append(fields, fieldsOf(arg)...)
		}
	case *parse.FieldNode:
		return [][]string{n.Ident}
	}
	return fields
}

func sortedKeys[T any](all map[string]T) []string { return slices.Sorted(maps.Keys(all)) }
