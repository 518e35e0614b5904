// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// stageBarWidth is the width of the progress bar next to a stage.
const stageBarWidth = 8

// stageProgress shows how far a running stage is: a bar where the whole is known, and the plugin's words.
func stageProgress(th theme.Theme, p *deckv1.StageProgress) string {
	words := th.Info.Render(text.Line(p.GetText()))
	switch {
	case p.GetTotal() > 0:
		const whole = 1000 // whatever the unit, the bar cannot overflow
		part := int64(float64(p.GetDone()) / float64(p.GetTotal()) * whole)
		counted := ""
		if p.GetTotal() != 100 {
			counted = th.Info.Render(fmt.Sprintf("%d of %d", p.GetDone(), p.GetTotal()))
		}
		return join(" ", bar(th, part, whole, stageBarWidth), counted, words)
	case p.GetDone() > 0:
		return join(" ", th.Info.Render(fmt.Sprint(p.GetDone())), words)
	}
	return words
}

// targetSummary reports how a stage goes at its deploy targets, the bad news first and by name. One target alone is the
// stage itself.
func targetSummary(th theme.Theme, stage *deckv1.Stage) string {
	targets := stage.GetTargets()
	if len(targets) < 2 {
		return ""
	}
	done, failed, stopped := 0, []string(nil), 0
	for _, target := range targets {
		switch target.GetStatus() {
		case deckv1.StageStatus_STAGE_STATUS_SUCCESS:
			done++
		case deckv1.StageStatus_STAGE_STATUS_FAILURE:
			failed = append(failed, text.Line(target.GetName()))
		case deckv1.StageStatus_STAGE_STATUS_CANCELLED:
			stopped++
		}
	}
	count := fmt.Sprintf("%d of %d ", done, len(targets))
	if strings.Contains(stage.GetDisplay(), count+"deploy targets") &&
		stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_SUCCESS {
		return "" // the plugin says it in its own words, for UIs that do not know of targets
	}
	var parts []string
	if len(failed) > 0 {
		parts = append(parts, th.Bad.Render("failed at "+strings.Join(failed, ", ")))
	}
	if stopped > 0 {
		parts = append(parts, th.Warn.Render(fmt.Sprintf("%d not begun", stopped)))
	}
	return join(", ", append(parts, th.Dim.Render(count+"targets done"))...)
}
