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
		"While text is typed, no letter acts. The last column is the name of the action in " +
		"[the key file](#the-key-file).\n")
	for _, group := range m.Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n| key | action | where | in the key file |\n|---|---|---|---|\n", group.Name)
		for _, binding := range group.Bindings {
			action := binding.Help
			if binding.Asks {
				action += " (asks first)"
			}
			name := "fixed"
			if !binding.Fixed() {
				name = "`" + binding.Address() + "`"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", binding.markdown(), action, binding.Where(), name)
		}
	}
	b.WriteString(keyFilePage)
	return b.String()
}

// keyFilePage is the part of the page about the key file.
var keyFilePage = fmt.Sprintf(`
## The key file

To change keys, write a file with one line for each action: its name from the tables above, then its keys.

`+"```yaml keys.yaml"+`
global.sync: [f5, ctrl+s] # a list of keys
log.follow: f6             # or one key
confirm: never             # ask (the default) or never
`+"```"+`

1. The UI reads the file `+"`pipedeck/keys.yaml`"+` in your configuration directory: `+"`$XDG_CONFIG_HOME`"+` or
   `+"`~/.config`"+` on Linux, `+"`~/Library/Application Support`"+` on macOS. `+"`--keys FILE`"+` of
   `+"`pipedeck up`"+` and `+"`pipedeck attach`"+` names another file, and so does `+"`PIPEDECK_KEYS`"+`; the flag
   wins.
2. The keys of a line replace all built-in keys of its action. A key is a character (`+"`x`, `X`, `?`"+`) or a name:
   %s
   and `+"`f1` to `f12`"+`; each after `+"`ctrl+`, `alt+` or `shift+`"+` where the terminal sends it. An action has at
   most %d keys.
3. A key means one action in one place. A line with a key that is taken, an unknown name or no key is reported when the
   UI starts, with its place and that of the line it collides with. Its action keeps the built-in keys; the other lines
   hold. `+"`pipedeck validate keys.yaml`"+` reports the same, and needs no environment.
4. `+"`confirm: never`"+` starts actions without a question. Tearing down an environment asks all the same, and leaving
   asks what happens to the environment.
5. Where text is typed (`+"`typing`, `actions`"+`), characters cannot be keys. The actions marked *fixed* keep their
   keys.

The file has at most %d KiB. A link is followed inside its directory only.
`, code(named[:slices.Index(named, "f1")]), maxKeys, MaxSize>>10)

// code is a list in Markdown.
func code(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }

// markdown returns all keys of b as code.
func (b Binding) markdown() string { return code(b.Keys) }

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
