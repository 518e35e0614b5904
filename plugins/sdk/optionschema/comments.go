// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package optionschema

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
)

// Comments holds the first paragraphs of the comments on fields, by type ("package.Type") and field.
type Comments map[string]map[string]string

// ReadComments reads the Go files of packages, which are given as folders.
func ReadComments(dirs ...string) (Comments, error) {
	all, files := Comments{}, token.NewFileSet()
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("%s holds no Go files: give the folder of the types", dir)
		}
		for _, name := range names {
			file, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			all.add(file)
		}
	}
	return all, nil
}

func (c Comments) add(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if structure, ok := spec.Type.(*ast.StructType); ok {
			c[file.Name.Name+"."+spec.Name.Name] = fieldComments(structure)
		}
		return false
	})
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

// Of returns the comment on a field with the names of Go fields replaced by the keys of files.
func (c Comments) Of(t reflect.Type, field string) string {
	keys := map[string]string{}
	for i := range t.NumField() {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); key != "" {
			keys[t.Field(i).Name] = key
		}
	}
	text := c[t.String()][field]
	if rest, ok := strings.CutPrefix(text, field+" "); ok {
		text = cmp.Or(keys[field], field) + " " + rest
	}
	return camel.ReplaceAllStringFunc(text, func(word string) string {
		if key, ok := keys[word]; ok {
			return key
		}
		return word
	})
}
