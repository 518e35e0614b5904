// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// contexts are the places of a key file, each with the scopes that share its keys. A binding belongs to the first
// context that has one of its scopes.
var contexts = []struct {
	name   string
	scopes []Scope
}{
	{"global", anywhere},
	{"lists", lists},
	{"graph", graph},
	{"log", logs},
	{"startup", []Scope{Startup}},
	{"typing", typing},
	{"actions", []Scope{PaletteOverlay}},
	{"dialog", dialogs},
	{"call", []Scope{CallOverlay}},
	{"share", []Scope{ShareOverlay}},
	{"help", []Scope{HelpOverlay}},
}

// context is the name of the place of b in a key file.
func (b Binding) context() string {
	for _, c := range contexts {
		if slices.ContainsFunc(b.Scopes, func(s Scope) bool { return slices.Contains(c.scopes, s) }) {
			return c.name
		}
	}
	return ""
}

// Fixed reports whether a key file cannot change the keys of b: the way out, and keys that mean what is on them.
func (b Binding) Fixed() bool { return b.Action == Interrupt || b.Action == Edit || b.Action == Pick }

// Address is the name of b in a key file ("global.sync"); empty for a fixed one.
func (b Binding) Address() string {
	if b.Fixed() {
		return ""
	}
	return b.context() + "." + string(b.Action)
}

// meets reports whether there is a place in which both hold.
func (b Binding) meets(other Binding) bool {
	for _, c := range contexts {
		for _, scope := range c.scopes {
			if scope != Anywhere && b.In(scope) && other.In(scope) {
				return true
			}
		}
	}
	return false
}

// named are the keys that have a name, as Bubble Tea calls them.
var named = []string{"up", "down", "left", "right", "home", "end", "pgup", "pgdown", "tab", "enter", "esc", "space",
	"backspace", "delete", "insert", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12"}

// isTyped reports whether a key is a character.
func isTyped(key string) bool { return key == "space" || utf8.RuneCountInString(key) == 1 }

// isKey reports whether Bubble Tea has a key of that name: a character, or a name after ctrl+, alt+ and shift+.
func isKey(key string) bool {
	if isTyped(key) {
		r, _ := utf8.DecodeRuneInString(key)
		return r != utf8.RuneError && unicode.IsGraphic(r) && !unicode.IsSpace(r)
	}
	rest, ctrl := strings.CutPrefix(key, "ctrl+")
	rest, alt := strings.CutPrefix(rest, "alt+")
	rest, shift := strings.CutPrefix(rest, "shift+")
	if slices.Contains(named, rest) {
		return true
	}
	// Most terminals send ctrl+i and ctrl+m as tab and enter.
	control := ctrl && (rest == "i" || rest == "m")
	return (ctrl || alt) && !shift && !control && len(rest) == 1 && 'a' <= rest[0] && rest[0] <= 'z'
}
