// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// badge is how a state looks: an icon and a word, so that neither needs the colour.
type badge struct {
	icon, word string
	style      theme.Tone
}

func (b badge) String() string { return signed(b.style, b.icon, b.word) }

func (b badge) dot() string { return b.style.Sign(b.icon) }

// signed draws words with a sign before them.
func signed(tone theme.Tone, sign, words string) string {
	return tone.Sign(sign) + tone.Render(" "+words)
}

func stageBadge(th theme.Theme, stage *deckv1.Stage) badge {
	if state.Paused(stage) {
		return badge{th.Wait, text.Line(state.PauseText(stage)), th.Tones.Warn}
	}
	switch stage.GetStatus() {
	case deckv1.StageStatus_STAGE_STATUS_RUNNING:
		if stage.GetCanApprove() {
			return badge{th.Wait, "waits for approval", th.Tones.Warn}
		}
		return badge{th.Active, "running", th.Tones.Running}
	case deckv1.StageStatus_STAGE_STATUS_SUCCESS:
		return badge{th.Done, "succeeded", th.Tones.Good}
	case deckv1.StageStatus_STAGE_STATUS_FAILURE:
		return badge{th.Failed, "failed", th.Tones.Bad}
	case deckv1.StageStatus_STAGE_STATUS_CANCELLED:
		return badge{th.Cancelled, "cancelled", th.Tones.Warn}
	case deckv1.StageStatus_STAGE_STATUS_SKIPPED:
		return badge{th.Skipped, "skipped", th.Tones.Dim}
	case deckv1.StageStatus_STAGE_STATUS_EXITED:
		return badge{th.Skipped, "exited", th.Tones.Good}
	}
	if stage.GetRollback() {
		return badge{th.Undo, "only on failure", th.Tones.Idle}
	}
	return badge{th.Hollow, "not started", th.Tones.Idle}
}

func deploymentBadge(th theme.Theme, status deckv1.DeploymentStatus) badge {
	switch status {
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING:
		return badge{th.Hollow, "PENDING", th.Tones.Running}
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PLANNED:
		return badge{th.Hollow, "PLANNED", th.Tones.Running}
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING:
		return badge{th.Active, "RUNNING", th.Tones.Running}
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_ROLLING_BACK:
		return badge{th.Undo, "ROLLING BACK", th.Tones.Rollback}
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS:
		return badge{th.Done, "SUCCESS", th.Tones.Good}
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE:
		return badge{th.Failed, "FAILURE", th.Tones.Bad}
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED:
		return badge{th.Cancelled, "CANCELLED", th.Tones.Warn}
	}
	return badge{th.Question, "UNKNOWN", th.Tones.Dim}
}

func syncBadge(th theme.Theme, app *deckv1.Application) badge {
	if app.GetDisabled() {
		return badge{th.Cancelled, "disabled", th.Tones.Dim}
	}
	if app.GetDeploying() || app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_DEPLOYING {
		return badge{th.Active, "deploying", th.Tones.Running}
	}
	switch app.GetSync() {
	case deckv1.SyncStatus_SYNC_STATUS_SYNCED:
		return badge{th.Done, "synced", th.Tones.Good}
	case deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC:
		return badge{th.Differs, "out of sync", th.Tones.Warn}
	case deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG:
		return badge{th.Failed, "invalid config", th.Tones.Bad}
	case deckv1.SyncStatus_SYNC_STATUS_ORPHANED:
		return badge{th.Cancelled, "orphaned", th.Tones.Warn}
	}
	return badge{th.Question, "sync unknown", th.Tones.Dim}
}

func healthBadge(th theme.Theme, health deckv1.HealthStatus) badge {
	switch health {
	case deckv1.HealthStatus_HEALTH_STATUS_HEALTHY:
		return badge{th.Done, "healthy", th.Tones.Good}
	case deckv1.HealthStatus_HEALTH_STATUS_OTHER:
		return badge{th.Failed, "unhealthy", th.Tones.Bad}
	}
	return badge{th.Question, "", th.Tones.Dim}
}

func pluginBadge(th theme.Theme, plugin *deckv1.Plugin) badge {
	switch plugin.GetState() {
	case deckv1.Plugin_STATE_STARTING:
		return badge{th.Active, "starting", th.Tones.Running}
	case deckv1.Plugin_STATE_RUNNING:
		if plugin.GetDetail() != "" {
			// There is something to read: its changed program does not start, or old stages finish elsewhere.
			return badge{th.Wait, "running", th.Tones.Warn}
		}
		return badge{th.Done, "running", th.Tones.Good}
	case deckv1.Plugin_STATE_RESTARTING:
		return badge{th.Undo, "restarting", th.Tones.Warn}
	case deckv1.Plugin_STATE_FAILED:
		return badge{th.Failed, "failed", th.Tones.Bad}
	case deckv1.Plugin_STATE_STOPPED:
		return badge{th.Cancelled, "stopped", th.Tones.Dim}
	}
	return badge{th.Question, "unknown", th.Tones.Dim}
}

// componentBadge takes the frame of the spinner for components that start.
func componentBadge(th theme.Theme, state deckv1.Component_State, frame int) badge {
	switch state {
	case deckv1.Component_STATE_STARTING:
		return badge{th.Spinner[frame%len(th.Spinner)], "starting", th.Tones.Running}
	case deckv1.Component_STATE_READY:
		return badge{th.Done, "ready", th.Tones.Good}
	case deckv1.Component_STATE_FAILED:
		return badge{th.Failed, "failed", th.Tones.Bad}
	case deckv1.Component_STATE_STOPPED:
		return badge{th.Cancelled, "stopped", th.Tones.Dim}
	case deckv1.Component_STATE_DEGRADED:
		return badge{th.Warning, "degraded", th.Tones.Warn}
	}
	return badge{th.Hollow, "pending", th.Tones.Idle}
}
