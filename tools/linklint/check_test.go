// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestLinksLeadSomewhereAndPagesCanBeReached(t *testing.T) {
	t.Parallel()
	const to = "[a](a.md)\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"links that lead somewhere": {map[string]string{
			"docs/README.md": to + "[x](../x.go) [web](https://example.com/none.md) [here](#here)\n# Here\n",
			"docs/a.md":      "", "x.go": "",
		}, nil},
		"a file that is missing": {
			map[string]string{"docs/README.md": "one\n[b](b.md)"},
			[]string{"docs/README.md:2: b.md: there is no such file"},
		},
		"a file above the repository": {
			map[string]string{"docs/README.md": "[b](../../b.md)"},
			[]string{"docs/README.md:1: ../../b.md: there is no such file"},
		},
		"a heading that is missing": {
			map[string]string{"docs/README.md": "[a](a.md#two)", "docs/a.md": "# One"},
			[]string{"docs/README.md:1: a.md#two: the page has no such heading"},
		},
		"headings with code, links and punctuation": {map[string]string{
			"docs/README.md": "[a](a.md#the-key-needs-why) [b](a.md#twice-1)",
			"docs/a.md":      "## The key `needs`: [why](a.md)?\n# Twice\n# Twice\n",
		}, nil},
		"code is no link": {
			map[string]string{"docs/README.md": "`[b](b.md)`\n```\n[b](b.md)\n# a\n```\n"}, nil,
		},
		"a page that no page leads to": {
			map[string]string{"docs/README.md": "", "docs/a.md": ""},
			[]string{"docs/a.md: no way leads here from docs/README.md"},
		},
		"a page that another page names": {
			map[string]string{"docs/README.md": to, "docs/a.md": "[b](../b.md)", "b.md": ""}, nil,
		},
		"a template needs no way to it":  {map[string]string{"docs/README.md": "", ".github/t.md": ""}, nil},
		"a folder can be what a link is": {map[string]string{"docs/README.md": "[x](../x)", "x/y.go": ""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			for path, text := range c.files {
				files[path] = &fstest.MapFile{Data: []byte(text)}
			}
			got, err := check(files)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
