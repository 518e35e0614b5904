// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// mistaken says what is wrong with the configuration of the application, unless the deployment ended by it.
func (v Deployment) mistaken(width int) []string {
	reason := v.Problem.GetReason()
	if reason == "" || v.Earlier || strings.Contains(text.Line(v.Deployment.GetStatusReason()), text.Line(reason)) {
		return nil
	}
	tone := v.Theme.Tones.Warn
	if v.Application.GetSync() == deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG {
		tone = v.Theme.Tones.Bad
	}
	return v.reasonLines(tone, reason, width)
}

// reasonLines wrap a reason behind an arrow, at most maxReason lines; none for an empty one.
func (v Deployment) reasonLines(style theme.Tone, reason string, width int) []string {
	if reason = text.Line(reason); reason == "" {
		return nil
	}
	th := v.Theme
	wrapped := text.Wrap(reason, width-4)
	var lines []string
	for i, line := range wrapped[:min(len(wrapped), maxReason)] {
		lead := "   "
		if i == 0 {
			lead = " " + th.Arrow + " "
			if text.Width(lead) > 3 {
				lead = th.Arrow + " "
			}
		}
		if i == maxReason-1 && len(wrapped) > maxReason {
			line = text.Cut(line, width-6, "") + th.Ellipsis
		}
		lines = append(lines, style.Render(lead+line))
	}
	return lines
}

// worthShowing: the reason of a success only repeats the status.
func worthShowing(status deckv1.DeploymentStatus) bool {
	switch status {
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE,
		deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED,
		deckv1.DeploymentStatus_DEPLOYMENT_STATUS_ROLLING_BACK:
		return true
	}
	return false
}
