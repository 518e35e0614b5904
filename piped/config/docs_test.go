// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConfigurationInTheDocumentationIsRight checks every example in the documentation that is a configuration, or a
// part of one from its spec or a key of its spec on. Of a part, only required keys may be missing.
func TestConfigurationInTheDocumentationIsRight(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	checked := 0
	for _, page := range append(pages, "../../README.md") {
		data, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, example := range examples(string(data)) {
			name := fmt.Sprintf("%s:%d", filepath.Base(page), example.line)
			if problems, ok := problemsOf(example.text, name); ok {
				checked++
				require.Empty(t, problems, "%s\n%s", name, example.text)
			}
		}
	}
	require.Greater(t, checked, 20)
}

type example struct {
	line int
	text string
}

var fence = regexp.MustCompile("^\\s*```")

// examples are the blocks of code of a page, fenced or indented.
func examples(page string) []example {
	var all []example
	var block []string
	var start int
	end := func() {
		if len(block) > 0 {
			all = append(all, example{start, strings.Join(block, "\n") + "\n"})
		}
		block = nil
	}
	fenced := false
	for i, line := range strings.Split(page, "\n") {
		inner, indented := strings.CutPrefix(line, "    ")
		switch {
		case fence.MatchString(line):
			end()
			fenced = !fenced
			continue
		case fenced:
			inner = line
		case line == "" && block != nil:
			inner = ""
		case !indented:
			end()
			continue
		}
		if block == nil {
			start = i + 1
		}
		block = append(block, inner)
	}
	end()
	return all
}

// problemsOf reports what is wrong with an example; ok is false for what is no configuration.
func problemsOf(text, name string) (problems Errors, ok bool) {
	d := &decoder{file: name}
	root := d.tree([]byte(text))
	if root == nil || len(root.keys) == 0 {
		return nil, false
	}
	first := root.keys[0].name
	if first == "apiVersion" {
		version := root.child("apiVersion")
		if version.text != APIVersion {
			return nil, false
		}
		report := Check([]byte(text), name)
		problems = append(report.Errors, report.Warnings...)
		if title, _, _ := strings.Cut(text, "\n"); strings.HasPrefix(title, "#") && strings.Contains(title, "v0") { // an example of the old form
			problems = slices.DeleteFunc(problems, func(e *Error) bool { return slices.Contains(report.V0, e) })
		}
		return problems, true
	}
	if first != "spec" {
		known := fieldsOf(reflect.TypeFor[Piped]())
		for key := range fieldsOf(reflect.TypeFor[Application]()) {
			known[key] = 0
		}
		if _, isKey := known[first]; !isKey || root.keys[0].value.kind == nullNode || root.keys[0].value.kind == stringNode {
			return nil, false
		}
		text = "spec:\n  " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	var least Errors
	for i, kind := range []string{KindApplication, KindPiped} {
		report := Check([]byte("apiVersion: "+APIVersion+"\nkind: "+kind+"\n"+text), name)
		found := slices.DeleteFunc(append(report.Errors, report.Warnings...), func(e *Error) bool {
			return strings.HasPrefix(e.Message, "is required") || strings.HasPrefix(e.Message, "needs pipedKeyFile or")
		})
		if i == 0 || len(found) < len(least) {
			least = found
		}
	}
	return least, true
}
