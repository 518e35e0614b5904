// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// goTestEnd ends the names of files with Go tests.
const goTestEnd = "_test.go"

// testFile is the name of a Go test: go test reads no file with another end.
func testFile(file string) (string, error) {
	switch {
	case strings.HasSuffix(file, goTestEnd):
		return file, nil
	case filepath.Ext(file) == "":
		return file + goTestEnd, nil
	}
	return "", exit.Usage(fmt.Errorf("%s is not the file of a Go test, whose name ends in %s", file, goTestEnd),
		"write it with: --file "+strings.TrimSuffix(file, filepath.Ext(file))+goTestEnd)
}

// goTest is the test of a plugin that is written to a file: it replays a stage.
func goTest(file, stage, recording string) string {
	plugin := pluginExpression(filepath.Dir(file))
	sdk := ""
	if strings.Contains(plugin, "sdk.") {
		sdk = "\t\"github.com/pipedeck/pipedeck/plugins/sdk\"\n"
	}
	return fmt.Sprintf(`package main

import (
	"testing"

%s	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

// %s replays the stage %s to the plugin that main passes to sdk.Main.
func %[2]s(t *testing.T) {
	sdktest.ReplayFile(t, %[4]s, "testdata/%[5]s", sdktest.ReplayOptions{})
}
`, sdk, testName(file), oneWord(stage), plugin, recording)
}

// oneWord is a name in a comment of one line.
func oneWord(name string) string { return strings.Join(strings.Fields(name), " ") }

// testName makes the name of a test of that of its file, which no other test of the package has.
func testName(file string) string {
	var name strings.Builder
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for word := range strings.FieldsFuncSeq(strings.TrimSuffix(filepath.Base(file), goTestEnd), between) {
		letters := []rune(word)
		name.WriteString(string(unicode.ToUpper(letters[0])) + string(letters[1:]))
	}
	unique := "Test" + name.String() + "AsRecorded"
	taken := functionsNextTo(file)
	for i, plain := 2, unique; taken[unique]; i++ {
		unique = plain + strconv.Itoa(i)
	}
	return unique
}

// functionsNextTo are the functions of the other files in the directory of a file. What cannot be read has none.
func functionsNextTo(file string) map[string]bool {
	found := map[string]bool{}
	names, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*.go"))
	for _, name := range names {
		if filepath.Base(name) == filepath.Base(file) {
			continue // it is replaced
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, one := range parsed.Decls {
			if function, ok := one.(*ast.FuncDecl); ok && function.Recv == nil {
				found[function.Name.Name] = true
			}
		}
	}
	return found
}

// pluginExpression is what the program in a directory passes to sdk.Main; that of pipedeck plugin new where there is no
// such program.
func pluginExpression(dir string) string {
	expression := "sdk.ForStages(&plugin{})"
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range names {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			var function, argument strings.Builder
			if printer.Fprint(&function, files, call.Fun) == nil && function.String() == "sdk.Main" &&
				printer.Fprint(&argument, files, call.Args[0]) == nil {
				expression = argument.String()
			}
			return true
		})
	}
	return expression
}
