// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/text"
)

// examine adds what is known of what runs: an application that HEAD has deployed and that is not healthy is no success,
// and one that is not as in Git has a warning. What the run has not deployed at HEAD has its result already; live is
// nil for an application that the environment does not have.
func (f *Facts) examine(a *Application, live *deckv1.Application) {
	if live == nil {
		return
	}
	a.Sync, a.Health = reader.Name(live.GetSync()), document.Health(live.GetHealth())
	unhealthy := live.GetHealth() == deckv1.HealthStatus_HEALTH_STATUS_OTHER
	deployed := a.Result == Success || a.Result == Unchanged && a.Deployment != ""
	switch {
	case !deployed:
	case unhealthy && a.Result == Success:
		a.Result, a.Reason = Unhealthy, about("deployed, but UNHEALTHY", live.GetHealthReason())
		a.Place = &Place{File: a.File}
		if !IsWatched(live) {
			a.Place = nil
		}
	case unhealthy:
		f.warn(a, about("UNHEALTHY", live.GetHealthReason()))
	case live.GetSync() == deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC:
		f.warn(a, about("deployed, but OUT_OF_SYNC", live.GetSyncShortReason()))
	}
}

// warn adds a warning that is in the table, too.
func (f *Facts) warn(a *Application, words string) {
	a.Warnings = append(a.Warnings, Warning{Text: words})
	a.Reason = strings.TrimPrefix(a.Reason+"; "+words, "; ")
}

func about(what, reason string) string {
	return strings.TrimSuffix(what+": "+text.Line(reason), ": ")
}
