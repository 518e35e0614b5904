// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package docs checks the pages of this folder.
package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testName is a test as the pages name it: the folder of its package, and its function.
var testName = regexp.MustCompile("`((?:[a-z0-9_]+/)*[a-z0-9_]+)\\.((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*)`")

// TestEveryTestInTheDocumentationExists keeps pages from promising what no test holds any more.
func TestEveryTestInTheDocumentationExists(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("*.md")
	require.NoError(t, err)
	named := 0
	for _, page := range append(pages, "../README.md", "../CONTRIBUTING.md") {
		data, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, found := range testName.FindAllStringSubmatch(string(data), -1) {
			named++
			require.True(t, exists(t, found[1], found[2]), "%s names %s.%s, which does not exist", page, found[1],
				found[2])
		}
	}
	require.Greater(t, named, 100)
	require.False(t, exists(t, "docs", "TestEveryTestInTheDocumentation"), "the beginning of a name is not enough")
}

// exists returns whether a package's tests declare the function, for any system and with any tag.
func exists(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*_test.go"))
	require.NoError(t, err)
	return slices.ContainsFunc(files, func(file string) bool {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		return strings.Contains(string(data), "\nfunc "+name+"(")
	})
}

// TestEveryGuaranteeNamesWhatHoldsIt looks at each item and each row of the page that is a promise.
func TestEveryGuaranteeNamesWhatHoldsIt(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("guarantees.md")
	require.NoError(t, err)
	promises, unheld, open := guarantees(string(page))
	require.Greater(t, promises, 50)
	require.Empty(t, unheld, "no test holds these")
	require.Empty(t, open, "these sections do not say what is not promised")

	promises, unheld, open = guarantees("## A\n\n- held by `a.TestA`\n- by\n  none\n\n| x |\n|---|\n" +
		"| none |\n\n## B\n\n- by `make chaos`\n\nNot promised:\n\n- C\n")
	require.Equal(t, 4, promises)
	require.Equal(t, []string{"- by", "| none |"}, unheld)
	require.Equal(t, []string{"## A"}, open)
}

// guarantees counts the promises below the headings of a page. It returns the first lines of those that name neither a
// test nor make chaos, and the headings of sections that do not say what is not promised.
func guarantees(page string) (promises int, unheld, open []string) {
	var heading, promise string
	var held, limited, header bool
	end := func() {
		if promise != "" {
			promises++
			if !held {
				unheld = append(unheld, promise)
			}
		}
		promise, held = "", false
	}
	for line := range strings.SplitSeq(page+"\n## ", "\n") {
		first := false
		switch {
		case strings.HasPrefix(line, "##"):
			end()
			if heading != "" && !limited {
				open = append(open, heading)
			}
			heading, limited, header = line, false, false
		case line == "Not promised:":
			end()
			limited = true
		case strings.HasPrefix(line, "|"):
			end()
			first = header && !strings.HasPrefix(line, "|--")
			header = true
		default:
			header = false
			if strings.HasPrefix(line, "- ") {
				end()
				first = true
			} else if !strings.HasPrefix(line, "  ") {
				end()
			}
		}
		if first && heading != "" && !limited {
			promise = line
		}
		held = held || testName.MatchString(line) || strings.Contains(line, "`make chaos`")
	}
	return promises, unheld, open
}
