// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
)

// lookNote says since when a look at the live state of an application lasts, and from when the state is that is shown;
// empty while no look lasts for long.
func lookNote(app *deckv1.Application, now time.Time) string {
	if !app.GetLookingSince().IsValid() {
		return ""
	}
	note := "checking since " + Ticking(state.Elapsed(app.GetLookingSince(), nil, now))
	if !app.GetExaminedAt().IsValid() {
		return note + "; it was not looked at before"
	}
	return note + "; this is the state of " + app.GetExaminedAt().AsTime().In(now.Location()).Format("15:04:05")
}
