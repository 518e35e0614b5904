// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
)

// dueOnOutOfSync says whether drift calls for a deployment now; when it does so only later, it says when.
// last is the deployment that was triggered last, nil when there was none.
func dueOnOutOfSync(
	rule config.OnOutOfSync, state *model.ApplicationSyncState, last *model.Deployment, now time.Time,
) (due bool, later time.Time) {
	switch {
	case rule.Disabled, state.GetStatus() != model.ApplicationSyncStatus_OUT_OF_SYNC:
		return false, time.Time{}
	case last == nil:
		return true, time.Time{}
	case last.GetCompletedAt() == 0:
		return false, time.Time{}
	}
	end := time.Unix(last.GetCompletedAt(), 0).Add(rule.MinWindow.Std())
	if now.Before(end) {
		return false, end
	}
	return true, time.Time{}
}

// refusal says why an application may not be deployed by the command; empty when it may.
func refusal(rule config.Trigger, kind model.Command_Type) string {
	switch {
	case kind == model.Command_SYNC_APPLICATION && rule.OnCommand.Disabled:
		return "the application refuses commands: trigger.onCommand.disabled is true in its configuration"
	case kind == model.Command_CHAIN_SYNC_APPLICATION && rule.OnChain.Disabled:
		return "the application refuses deployment chains: set trigger.onChain.disabled to false in its " +
			"configuration to allow them"
	default:
		return ""
	}
}
