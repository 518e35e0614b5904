// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
)

// comments holds the first paragraphs of the comments on fields, by type and field.
type comments map[string]map[string]string

// readComments reads the Go files of a folder.
func readComments(dir string) (comments, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("there are no Go files in %s: give the folder of package config", dir)
	}
	all := comments{}
	files := token.NewFileSet()
	for _, name := range names {
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if structure, ok := spec.Type.(*ast.StructType); ok {
				all[spec.Name.Name] = fieldComments(structure)
			}
			return false
		})
	}
	return all, nil
}

func fieldComments(structure *ast.StructType) map[string]string {
	fields := map[string]string{}
	for _, field := range structure.Fields.List {
		paragraph, _, _ := strings.Cut(field.Doc.Text(), "\n\n")
		for _, name := range field.Names {
			fields[name.Name] = strings.Join(strings.Fields(paragraph), " ")
		}
	}
	return fields
}

// camel finds names that can only be those of fields: words with a capital inside, but for {{ .Names }}.
var camel = regexp.MustCompile(`\.?\b[A-Z]+[a-z0-9]+[A-Z][A-Za-z0-9]*\b`)

// of is the comment on a field with the names of Go turned into those of files.
func (c comments) of(t reflect.Type, field string) string {
	keys := map[string]string{}
	for i := range t.NumField() {
		keys[t.Field(i).Name], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	text := c[t.Name()][field]
	if rest, ok := strings.CutPrefix(text, field+" "); ok {
		text = keys[field] + " " + rest
	}
	return camel.ReplaceAllStringFunc(text, func(word string) string {
		if key, ok := keys[word]; ok {
			return key
		}
		return word
	})
}
