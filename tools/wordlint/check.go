// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/golangci/misspell"
)

// finding is one place to change.
type finding struct {
	file      string
	line, col int
	what      string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d:%d: %s", f.file, f.line, f.col, f.what) }

// check reads all files below the root. Folders that hold what others wrote or what was built are left out.
func check(root fs.FS, r *rules) ([]finding, error) {
	c := checker{rules: r, spelling: misspell.New()}
	c.spelling.Compile()
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			hidden := strings.HasPrefix(entry.Name(), ".") && path != "." && path != ".github"
			if hidden || slices.Contains([]string{"testdata", "bin", "vendor"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		switch {
		case r.isText(path):
			return c.read(root, path, c.text)
		case strings.HasSuffix(path, ".go"):
			return c.read(root, path, c.code)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, e := range r.exceptions {
		if !e.used {
			c.report("tools/wordlint/exceptions.yaml", 1, 1,
				fmt.Sprintf("the exception for %q in %s is not needed", e.Text, e.File))
		}
	}
	slices.SortStableFunc(c.findings, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.col, b.col))
	})
	return c.findings, nil
}

type checker struct {
	rules    *rules
	spelling *misspell.Replacer
	findings []finding
}

func (c *checker) report(file string, line, col int, what string) {
	c.findings = append(c.findings, finding{file, line, col, what})
}

func (c *checker) read(root fs.FS, path string, check func(path string, data []byte) error) error {
	data, err := fs.ReadFile(root, path)
	if err != nil {
		return err
	}
	return check(path, data)
}

// text checks a page, code in it included.
func (c *checker) text(path string, data []byte) error {
	c.words(path, string(data), 1)
	c.spell(path, string(data), c.spelling.Replace)
	return nil
}

// code checks what the folder of a Go file asks for.
func (c *checker) code(path string, data []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, data, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	if within(path, c.rules.Spelling) {
		c.spell(path, string(data), c.spelling.ReplaceGo)
	}
	if !within(path, c.rules.Code) || within(path, c.rules.CodeElsewhere) {
		return nil
	}
	files := token.NewFileSet()
	file, err = parser.ParseFile(files, path, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		c.words(path, strings.ReplaceAll(commentText(group), "\n//", "\n  "), files.Position(group.Pos()).Line)
	}
	c.nodes(path, file, files)
	return nil
}

// commentText returns a group of comments as it stands in the file, with the marks of its lines.
func commentText(group *ast.CommentGroup) string {
	lines := make([]string, len(group.List))
	for i, comment := range group.List {
		lines[i] = comment.Text
	}
	return strings.Join(lines, "\n")
}

// nodes checks the names that a file declares, and its string literals besides imports and tags of fields.
func (c *checker) nodes(path string, file *ast.File, files *token.FileSet) {
	for _, name := range declared(file) {
		c.identifier(path, name.Name, files.Position(name.Pos()))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				c.words(path, n.Value, files.Position(n.Pos()).Line)
			}
		}
		return true
	})
}

// declared returns the names that a file gives: what it only uses was named elsewhere.
func declared(file *ast.File) []*ast.Ident {
	names := []*ast.Ident{file.Name}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name)
		case *ast.TypeSpec:
			names = append(names, n.Name)
		case *ast.ValueSpec:
			names = append(names, n.Names...)
		case *ast.Field:
			names = append(names, n.Names...)
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				names = appendNames(names, n.Key, n.Value)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				names = appendNames(names, n.Lhs...)
			}
		}
		return true
	})
	return names
}

func appendNames(names []*ast.Ident, expressions ...ast.Expr) []*ast.Ident {
	for _, e := range expressions {
		if name, ok := e.(*ast.Ident); ok {
			names = append(names, name)
		}
	}
	return names
}

// humps are where a word of an identifier ends and the next one begins; "OfANew" has one of each.
var humps = []*regexp.Regexp{regexp.MustCompile(`([a-z0-9])([A-Z])`), regexp.MustCompile(`([A-Z])([A-Z][a-z])`)}

// identifier checks the words of a name, such as "of its own" in TestAFileOfItsOwn.
func (c *checker) identifier(path, name string, at token.Position) {
	text := strings.ReplaceAll(name, "_", " ")
	for _, hump := range humps {
		text = hump.ReplaceAllString(text, "$1 $2")
	}
	for _, w := range c.rules.Words {
		if found := w.found.FindString(text); found != "" && !c.rules.allowed(path, name, 0, len(name)) {
			c.report(path, at.Line, at.Column, fmt.Sprintf("%q in the name %s: write %s", found, name, w.Write))
		}
	}
}

// words looks for refused words, also those of a phrase that goes on in the next line. The text begins in the given
// line of its file.
func (c *checker) words(path, text string, line int) {
	for _, w := range c.rules.Words {
		for _, at := range w.found.FindAllStringIndex(text, -1) {
			if c.rules.allowed(path, text, at[0], at[1]) {
				continue
			}
			before := text[:at[0]]
			found := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
			c.report(path, line+strings.Count(before, "\n"), at[0]-strings.LastIndex(before, "\n"),
				fmt.Sprintf("%q: write %s", found, w.Write))
		}
	}
}

func (c *checker) spell(path, text string, replace func(string) (string, []misspell.Diff)) {
	_, wrong := replace(text)
	for _, w := range wrong {
		line := strings.Split(text, "\n")[w.Line-1]
		if at := strings.Index(line, w.Original); at >= 0 && c.rules.allowed(path, line, at, at+len(w.Original)) {
			continue
		}
		c.report(path, w.Line, w.Column+1, fmt.Sprintf("%q: write %q", w.Original, w.Corrected))
	}
}
