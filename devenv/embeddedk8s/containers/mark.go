// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

// MarkVariable is the variable that carries the Mark of a container.
const MarkVariable = "PIPEDECK_CONTAINER"

// endLeftBehind ends what runs of containers have left outside of their process groups: what is in their control
// groups, and what carries their mark.
func endLeftBehind(exits map[*Process]Exit) {
	marks := map[string]bool{}
	for p := range exits {
		p.spec.Group.kill()
		if p.spec.Mark != "" {
			marks[p.spec.Mark] = true
		}
	}
	endMarked(marks)
}
