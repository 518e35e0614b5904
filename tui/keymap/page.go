// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap

import (
	"fmt"
	"strings"
)

// Page returns the documentation of all bindings, in Markdown: those of panes by group, then each dialog.
func (m Map) Page() string {
	var b strings.Builder
	b.WriteString("<!-- Generated from tui/keymap by make generate. Do not edit. -->\n\n# Keys\n\n" +
		"The keys of the terminal UI, for its users. `?` shows the same list in the UI; the bottom line shows the " +
		"most useful keys\n" +
		"of the focused pane. A key that cannot act now says why in the bottom line.\n")
	for _, group := range m.Help() {
		fmt.Fprintf(&b, "\n## %s\n\n| key | action | where |\n|---|---|---|\n", group.Name)
		for _, binding := range group.Bindings {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", binding.markdown(), binding.Help, binding.where())
		}
	}
	for _, place := range []struct {
		scope Scope
		title string
	}{
		{Startup, "While the environment starts"}, {QuitDialog, "Dialog: leave"}, {ConfirmDialog, "Dialog: confirm"},
		{ChoiceDialog, "Dialog: choose"}, {HelpOverlay, "Help"},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| key | action |\n|---|---|\n", place.title)
		for _, binding := range m {
			if binding.In(place.scope) {
				fmt.Fprintf(&b, "| %s | %s |\n", binding.markdown(), binding.Help)
			}
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

// where names the panes in which b holds.
func (b Binding) where() string {
	var panes []string
	for _, scope := range b.Scopes {
		switch {
		case scope == Anywhere:
			return "every pane"
		case scope.IsPane():
			panes = append(panes, string(scope))
		}
	}
	return strings.Join(panes, ", ")
}
