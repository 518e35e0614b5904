// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/docs/page"
)

// every returns the blocks of all pages.
func every(t *testing.T) []page.Block {
	t.Helper()
	pages, err := page.All("..")
	require.NoError(t, err)
	var all []page.Block
	for _, path := range pages {
		blocks, err := page.Read(path)
		require.NoError(t, err)
		all = append(all, blocks...)
	}
	require.Greater(t, len(all), 100)
	return all
}

func TestEveryBlockOfCommandsIsRunOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	for _, b := range every(t) {
		if b.Language == "sh" {
			require.Empty(t, unmarked(t, b), "%s: ```%s %s", b.Place(), b.Language, b.Mark)
		}
	}
}

// unmarked says what is wrong with the mark of a block of commands.
func unmarked(t *testing.T, b page.Block) string {
	t.Helper()
	reason, _, _ := strings.Cut(b.Needs(), ":")
	switch {
	case b.IsRun():
		return ""
	case b.Needs() != "":
		if _, known := page.Reasons()[reason]; !known {
			return "the reason is none of " + strings.Join(slices.Sorted(maps.Keys(page.Reasons())), ", ")
		}
		return ""
	case b.RunBy() == "":
		return "the mark is none of run, run terminal, needs REASON and run-by FILE: see CONTRIBUTING.md"
	}
	script, err := os.ReadFile(filepath.Join("..", b.RunBy()))
	require.NoError(t, err, b.Place())
	for line := range strings.Lines(b.Text) {
		if !strings.Contains(string(script), line) {
			return b.RunBy() + " does not run " + line
		}
	}
	return ""
}

// command begins a line that a reader would paste into a shell.
var command = regexp.MustCompile(`(?m)^(\$ .*|(pipedeck|piped|pipectl|git|kubectl|curl|make|cd) [a-z/~-].*)$`)

func TestCommandsAreInBlocksOfCommands(t *testing.T) {
	t.Parallel()
	for _, b := range every(t) {
		switch b.Language {
		case "sh", "go", "python", page.Before, page.Until:
		case "text":
			if b.Mark != page.Usage {
				require.NotRegexp(t, command, b.Text, "%s: a block of output holds a command", b.Place())
			}
		case "yaml", "json":
			require.NotRegexp(t, `(?m)^\$ `, b.Text, b.Place())
		default:
			require.Fail(t, "unknown language", "%s: ```%s", b.Place(), b.Language)
		}
	}
}
