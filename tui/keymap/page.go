// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap

import (
	"fmt"
	"slices"
	"strings"
)

// Page returns the documentation of all bindings by group, in Markdown.
func (m Map) Page() string {
	var b strings.Builder
	b.WriteString("<!-- Generated from tui/keymap by make generate. Do not edit. -->\n\n# Keys\n\n" +
		"The keys of the terminal UI, for its users. `?` shows the same list in the UI; the bottom line shows the " +
		"most useful keys\n" +
		"of the focused pane. A key that cannot act now says why in the line above, and so does a key without " +
		"effect.\n" +
		"While text is typed, no letter acts.\n")
	for _, group := range m.Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n| key | action | where |\n|---|---|---|\n", group.Name)
		for _, binding := range group.Bindings {
			action := binding.Help
			if binding.Asks {
				action += " (asks first)"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", binding.markdown(), action, binding.Where())
		}
	}
	return b.String()
}

// markdown returns all keys of b as code.
func (b Binding) markdown() string {
	keys := make([]string, len(b.Keys))
	for i, key := range b.Keys {
		keys[i] = "`" + key + "`"
	}
	return strings.Join(keys, ", ")
}

// Where names the places in which b holds.
func (b Binding) Where() string {
	if slices.Contains(b.Scopes, Anywhere) {
		return "every pane"
	}
	places := make([]string, len(b.Scopes))
	for i, scope := range b.Scopes {
		places[i] = string(scope)
	}
	return strings.Join(places, ", ")
}
