// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// kind is what is counted.
type kind string

const (
	methods    kind = "methods"
	fields     kind = "fields"
	lines      kind = "lines"
	parameters kind = "parameters"
	columns    kind = "columns"
)

// bounds are the largest numbers that need no exception. The lines of a function are those between its braces; in
// tests a literal counts as one line, since a table of cases is data. For columns the number counts the lines that are
// wider than maxColumns.
var bounds = map[kind]int{methods: 40, fields: 18, lines: 60, parameters: 6, columns: 0}

// maxColumns is the width of code and comments; a tab is four columns.
const maxColumns = 120

// finding is something over its bound.
type finding struct {
	kind kind
	// place is "folder.Name" of a type or function, or the path of a file for columns.
	place string
	// at is where to look: path:line.
	at   string
	size int
}

func (f finding) key() string { return string(f.kind) + " " + f.place }

// String returns one line for people.
func (f finding) String() string {
	if f.kind == columns {
		return fmt.Sprintf("%s: %d lines of this file have more than %d columns", f.at, f.size, maxColumns)
	}
	return fmt.Sprintf("%s: %s has %d %s, over the bound of %d", f.at, f.place, f.size, f.kind, bounds[f.kind])
}

// measure reads all Go files below the folders and returns what is over its bound, by place.
func measure(root string, folders []string) ([]finding, error) {
	if len(folders) == 0 {
		folders = []string{"."}
	}
	m := &meter{root: root, files: token.NewFileSet(), methods: map[string]int{}, types: map[string]string{}}
	for _, folder := range folders {
		if err := filepath.WalkDir(filepath.Join(root, folder), m.visit); err != nil {
			return nil, err
		}
	}
	for name, count := range m.methods {
		m.note(finding{kind: methods, place: name, at: cmp.Or(m.types[name], name), size: count})
	}
	slices.SortFunc(m.found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.place, b.place))
	})
	return m.found, nil
}

type meter struct {
	root  string
	files *token.FileSet
	found []finding
	// methods counts them by type, types is where each type is declared.
	methods map[string]int
	types   map[string]string
}

func (m *meter) note(f finding) {
	if f.size > bounds[f.kind] {
		m.found = append(m.found, f)
	}
}

func (m *meter) visit(path string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	name := entry.Name()
	if entry.IsDir() {
		hidden := strings.HasPrefix(name, ".") && name != "."
		if path != m.root && (name == "testdata" || hidden) {
			return filepath.SkipDir
		}
		return nil
	}
	if !strings.HasSuffix(name, ".go") || !entry.Type().IsRegular() {
		return nil
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(m.root, path)
	if err != nil {
		return err
	}
	return m.file(filepath.ToSlash(relative), source)
}

func (m *meter) file(path string, source []byte) error {
	file, err := parser.ParseFile(m.files, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	m.columns(path, source)
	folder := path[:max(0, strings.LastIndexByte(path, '/'))]
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			m.function(folder, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, is := spec.(*ast.TypeSpec); is {
					m.typeSpec(folder, t)
				}
			}
		}
	}
	return nil
}

// columns makes one finding of all wide lines of a file, at the first of them.
func (m *meter) columns(path string, source []byte) {
	wide := finding{kind: columns, place: path}
	number := 0
	for line := range bytes.Lines(source) {
		number++
		line = bytes.ReplaceAll(bytes.TrimRight(line, "\r\n"), []byte("\t"), []byte("    "))
		if utf8.RuneCount(line) <= maxColumns {
			continue
		}
		if wide.size++; wide.size == 1 {
			wide.at = fmt.Sprintf("%s:%d", path, number)
		}
	}
	m.note(wide)
}

func (m *meter) function(folder string, d *ast.FuncDecl) {
	name := folder + "." + d.Name.Name
	if d.Recv != nil {
		receiver := folder + "." + receiverName(d.Recv.List[0].Type)
		m.methods[receiver]++
		name = receiver + "." + d.Name.Name
	}
	m.note(finding{kind: parameters, place: name, at: m.at(d), size: d.Type.Params.NumFields()})
	if d.Body != nil {
		inside := m.span(d.Body.Lbrace, d.Body.Rbrace) - 1
		if strings.HasSuffix(m.files.Position(d.Pos()).Filename, "_test.go") {
			inside -= m.tables(d.Body)
		}
		m.note(finding{kind: lines, place: name, at: m.at(d), size: inside})
	}
}

// span is how many lines a place is below another one.
func (m *meter) span(from, to token.Pos) int {
	return m.files.Position(to).Line - m.files.Position(from).Line
}

// tables counts the lines of literals that do not count: all but the first of each.
func (m *meter) tables(body ast.Node) (count int) {
	ast.Inspect(body, func(node ast.Node) bool {
		literal, is := node.(*ast.CompositeLit)
		if is {
			count += m.span(literal.Lbrace, literal.Rbrace)
		}
		return !is
	})
	return count
}

func (m *meter) typeSpec(folder string, t *ast.TypeSpec) {
	name := folder + "." + t.Name.Name
	m.types[name] = m.at(t)
	if s, is := t.Type.(*ast.StructType); is {
		m.note(finding{kind: fields, place: name, at: m.at(t), size: s.Fields.NumFields()})
	}
}

func (m *meter) at(node ast.Node) string {
	position := m.files.Position(node.Pos())
	return fmt.Sprintf("%s:%d", position.Filename, position.Line)
}

// receiverName is the type of a receiver without its star and type parameters.
func receiverName(receiver ast.Expr) string {
	switch r := receiver.(type) {
	case *ast.StarExpr:
		return receiverName(r.X)
	case *ast.IndexExpr:
		return receiverName(r.X)
	case *ast.IndexListExpr:
		return receiverName(r.X)
	case *ast.Ident:
		return r.Name
	default:
		return "?"
	}
}
