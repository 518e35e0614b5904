// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// wordPattern is a word of a text. No shorter text counts as a secret.
var wordPattern = regexp.MustCompile(`[A-Za-z]{6,}`)

// words returns those of the texts in the Go files of a directory, without its tests.
func words(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			_, isImport := node.(*ast.ImportSpec)
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && !strings.Contains(text, "canary-") {
					all = append(all, wordPattern.FindAllString(text, -1)...)
				}
			}
			return !isImport
		})
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
