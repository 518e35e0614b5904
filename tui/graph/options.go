// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"strings"

	"github.com/pipedeck/pipedeck/tui/graph/layout"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Options are the same for both forms where nothing else is said.
type Options struct {
	// View is the part to draw.
	View View
	// Selected is the id of the selected stage.
	Selected string
	// Reverted is what a rollback goes back to, such as a commit.
	Reverted string
	// ASCII draws with ASCII characters only; the names of stages stay as they are.
	ASCII bool
	// Bar is the width of the time axis of lanes; 0 chooses it by the width of the view.
	Bar int
	// Previous is the layout of the same pipeline before it changed, for boxes; see layout.Layered.
	Previous *layout.Picture
}

// split parts the stages of the pipeline from those that run on rollback.
func split(stages []Stage) (forward, rollback []Stage) {
	for _, stage := range stages {
		if stage.Rollback {
			rollback = append(rollback, stage)
		} else {
			forward = append(forward, stage)
		}
	}
	return forward, rollback
}

// started reports whether a rollback has to be drawn as a graph; until then one line names its stages.
func started(rollback []Stage) bool {
	for _, stage := range rollback {
		if stage.Status != NotStarted {
			return true
		}
	}
	return false
}

// rollbackRule draws the line above the stages of a rollback.
func (c *canvas) rollbackRule(y, width int, reverted string) {
	title := "rollback"
	if reverted = text.Line(reverted); reverted != "" {
		title += " to " + reverted
	}
	c.glyph(0, y, '↺', RollbackRole, true)
	c.text(2, y, width-2, title, RollbackRole, true)
	for x := 3 + text.Width(title); x < width; x++ {
		c.glyph(x, y, '─', RollbackRole, false)
	}
}

// rollbackLine names the stages of a rollback that has not started.
func (c *canvas) rollbackLine(y, width int, rollback []Stage) {
	names := make([]string, len(rollback))
	for i, stage := range rollback {
		names[i] = stage.Name
	}
	c.glyph(0, y, '↺', Dim, false)
	c.text(2, y, width-2, "on failure: "+strings.Join(names, ", "), Dim, false)
}
