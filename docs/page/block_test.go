// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/docs/page"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestAPageIsReadAsBlocksAndComments(t *testing.T) {
	t.Parallel()
	path := write(t, "# Page\n\n<!-- before: pipedeck up -->\n```sh run\necho a\n```\n\n## Next\n\n### Deeper\n\n"+
		"1. In a list:\n\n   ```yaml a/b.yaml\n   a:\n     b: 1\n\n   c: 2\n   ```\n\n"+
		"<!-- another comment -->\n<!-- until: pipedeck status -->\n```sh needs network\ncurl x\n```\n")
	blocks, err := page.Read(path)
	require.NoError(t, err)
	require.Equal(t, []page.Block{
		{Page: path, Line: 3, Language: page.Before, Text: "pipedeck up"},
		{Page: path, Line: 4, Language: "sh", Mark: page.Run, Text: "echo a\n"},
		{Page: path, Line: 14, Section: "Next", Language: "yaml", Mark: "a/b.yaml", Text: "a:\n  b: 1\n\nc: 2\n"},
		{Page: path, Line: 22, Section: "Next", Language: page.Until, Text: "pipedeck status"},
		{Page: path, Line: 23, Section: "Next", Language: "sh", Mark: "needs network", Text: "curl x\n"},
	}, blocks)
	require.Equal(t, "a/b.yaml", blocks[2].File())
	require.False(t, blocks[2].Configures())
	require.Equal(t, "network", blocks[4].Needs())
	require.Empty(t, blocks[4].File())
}

func TestABlockThatSaysNothingAboutItselfIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"indented":                "Run\n\n    pipedeck up\n",
		"indented by a tab":       "Run\n\n\tpipedeck up\n",
		"indented in a list":      "1. Run\n\n       pipedeck up\n",
		"without an end":          "```sh run\npipedeck up\n",
		"fenced by another sign":  "~~~sh\npipedeck up\n~~~\n",
		"fenced with more of one": "````sh\npipedeck up\n````\n",
		"in HTML":                 "<pre>pipedeck up</pre>\n",
		"a misspelt comment":      "<!-- untill: pipedeck status -->\n",
		"in a quotation":          "> ```sh\n> pipedeck up\n> ```\n",
	} {
		_, err := page.Read(write(t, text))
		require.Error(t, err, name)
	}
}

func TestEveryPageOfARepositoryIsFound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{
		"a.md", "docs/b.md", "docs/deep/c.md", "docs/d.txt", "testdata/e.md", ".cache/f.md", "bin/g.md",
	} {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	pages, err := page.All(root)
	require.NoError(t, err)
	require.Equal(t, []string{
		filepath.Join(root, "a.md"), filepath.Join(root, "docs/b.md"), filepath.Join(root, "docs/deep/c.md"),
	}, pages)
	_, err = page.All(filepath.Join(root, "none"))
	require.Error(t, err)
}
