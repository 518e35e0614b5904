// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap

import "slices"

// NextStepKey goes on in a story. It means nothing else in an environment, needs no other key on most keyboards, and
// answers no question; in a recorded session it goes forward, too.
const NextStepKey = "."

// Guided returns the bindings that the viewer of a story has besides those of m.
func (m Map) Guided() Map {
	next := Binding{Action: NextStep, Keys: []string{NextStepKey}, Short: "next", Help: "go on with the story", Rank: 0,
		Group: "Story", Scopes: always}
	all := Map{next}
	for _, b := range m {
		if b.meets(next) {
			b.Keys = slices.DeleteFunc(slices.Clone(b.Keys), func(key string) bool { return key == NextStepKey })
		}
		if len(b.Keys) > 0 {
			all = append(all, b)
		}
	}
	return all
}
