// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	_ "embed"
	"fmt"
	"strings"
)

// pageHead begins the page of all cases.
const pageHead = `# Conformance of plugins

<!-- Written by make generate from plugins/sdk/conformance. -->

This page lists what ` + "`pipedeck plugin test`" + ` checks, for authors of plugins in any language;
[Writing a plugin](plugin-author-guide.md) shows how to run it. A case has an id that does not change:
` + "`--only ID`" + ` runs it alone, and ` + "`--only 'cancel.*'`" + ` all that begin so.

A case is ` + "`passed`, `failed`, `noted` or `n/a`" + `. Noted is what a plugin may do and its author has to know,
such as a stage that fails because it was given no options. A case is not applicable when the plugin does not have what
it looks at, and need not.
`

// pageResults ends it: what came of the plugins of others.
//
//go:embed results.txt
var pageResults string

// Page returns the page docs/conformance.md.
func Page() string {
	var b strings.Builder
	cases := Cases()
	b.WriteString(pageHead)
	fmt.Fprintf(&b, "There are %d cases.\n", len(cases))
	var before Capability
	for _, c := range cases {
		if c.Capability != before {
			before = c.Capability
			title := strings.ToUpper(string(before[:1])) + string(before[1:])
			fmt.Fprintf(&b, "\n## %s\n\n| case | what must hold | otherwise | next step |\n|---|---|---|---|\n", title)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.ID, cell(c.Title), cell(c.Why), cell(c.Next))
	}
	b.WriteString(pageResults)
	return b.String()
}

// cell writes a text of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;", "[]", `\[\]`).Replace(text)
}
