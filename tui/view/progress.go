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

// progressWords say how far a running stage is, with the plugin's words.
func progressWords(p *deckv1.StageProgress) string {
	words := text.Line(p.GetText())
	switch {
	case p.GetTotal() == 100:
		return join(" ", fmt.Sprintf("%d%%", p.GetDone()), words)
	case p.GetTotal() > 0:
		return join(" ", fmt.Sprintf("%d of %d", p.GetDone(), p.GetTotal()), words)
	case p.GetDone() > 0:
		return join(" ", fmt.Sprint(p.GetDone()), words)
	}
	return words
}

// targetSummary reports how a stage goes at its deploy targets, the bad news first and by name. One target alone is the
// stage itself.
func targetSummary(stage *deckv1.Stage) string {
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
		parts = append(parts, "failed at "+strings.Join(failed, ", "))
	}
	if stopped > 0 {
		parts = append(parts, fmt.Sprintf("%d not begun", stopped))
	}
	return join(", ", append(parts, count+"targets done")...)
}

// targetLine shows each deploy target of a stage that has several, with the reason of a failure.
func targetLine(th theme.Theme, stage *deckv1.Stage) string {
	if len(stage.GetTargets()) < 2 {
		return ""
	}
	parts := make([]string, len(stage.GetTargets()))
	for i, target := range stage.GetTargets() {
		badge := stageBadge(th, &deckv1.Stage{Status: target.GetStatus()})
		parts[i] = badge.dot() + " " + text.Line(target.GetName())
		if detail := text.Line(target.GetDetail()); detail != "" {
			parts[i] += th.Dim.Render(": " + detail)
		}
	}
	return strings.Join(parts, "  ")
}
