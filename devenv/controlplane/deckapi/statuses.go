// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// The statuses of PipeCD, of plugins and of pipeds as user interfaces get them. A status that these tables lack is
// unspecified.
var (
	deploymentStatuses = map[model.DeploymentStatus]deckv1.DeploymentStatus{
		model.DeploymentStatus_DEPLOYMENT_PENDING:      deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING,
		model.DeploymentStatus_DEPLOYMENT_PLANNED:      deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PLANNED,
		model.DeploymentStatus_DEPLOYMENT_RUNNING:      deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING,
		model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_ROLLING_BACK,
		model.DeploymentStatus_DEPLOYMENT_SUCCESS:      deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS,
		model.DeploymentStatus_DEPLOYMENT_FAILURE:      deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE,
		model.DeploymentStatus_DEPLOYMENT_CANCELLED:    deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED,
	}
	stageStatuses = map[model.StageStatus]deckv1.StageStatus{
		model.StageStatus_STAGE_NOT_STARTED_YET: deckv1.StageStatus_STAGE_STATUS_NOT_STARTED,
		model.StageStatus_STAGE_RUNNING:         deckv1.StageStatus_STAGE_STATUS_RUNNING,
		model.StageStatus_STAGE_SUCCESS:         deckv1.StageStatus_STAGE_STATUS_SUCCESS,
		model.StageStatus_STAGE_FAILURE:         deckv1.StageStatus_STAGE_STATUS_FAILURE,
		model.StageStatus_STAGE_CANCELLED:       deckv1.StageStatus_STAGE_STATUS_CANCELLED,
		model.StageStatus_STAGE_SKIPPED:         deckv1.StageStatus_STAGE_STATUS_SKIPPED,
		model.StageStatus_STAGE_EXITED:          deckv1.StageStatus_STAGE_STATUS_EXITED,
	}
	syncStatuses = map[model.ApplicationSyncStatus]deckv1.SyncStatus{
		model.ApplicationSyncStatus_UNKNOWN:        deckv1.SyncStatus_SYNC_STATUS_UNKNOWN,
		model.ApplicationSyncStatus_SYNCED:         deckv1.SyncStatus_SYNC_STATUS_SYNCED,
		model.ApplicationSyncStatus_DEPLOYING:      deckv1.SyncStatus_SYNC_STATUS_DEPLOYING,
		model.ApplicationSyncStatus_OUT_OF_SYNC:    deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC,
		model.ApplicationSyncStatus_INVALID_CONFIG: deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG,
	}
	healthStatuses = map[model.ApplicationLiveState_Status]deckv1.HealthStatus{
		model.ApplicationLiveState_UNKNOWN: deckv1.HealthStatus_HEALTH_STATUS_UNKNOWN,
		model.ApplicationLiveState_HEALTHY: deckv1.HealthStatus_HEALTH_STATUS_HEALTHY,
		model.ApplicationLiveState_OTHER:   deckv1.HealthStatus_HEALTH_STATUS_OTHER,
	}
	pluginStates = map[agentv1.Plugin_State]deckv1.Plugin_State{
		agentv1.Plugin_STATE_STARTING:   deckv1.Plugin_STATE_STARTING,
		agentv1.Plugin_STATE_RUNNING:    deckv1.Plugin_STATE_RUNNING,
		agentv1.Plugin_STATE_RESTARTING: deckv1.Plugin_STATE_RESTARTING,
		agentv1.Plugin_STATE_FAILED:     deckv1.Plugin_STATE_FAILED,
		agentv1.Plugin_STATE_STOPPED:    deckv1.Plugin_STATE_STOPPED,
	}
	pipedStates = map[store.PipedState]deckv1.Piped_State{
		store.PipedNeverConnected: deckv1.Piped_STATE_NEVER_CONNECTED,
		store.PipedConnected:      deckv1.Piped_STATE_CONNECTED,
		store.PipedDisconnected:   deckv1.Piped_STATE_DISCONNECTED,
		store.PipedDisabled:       deckv1.Piped_STATE_DISABLED,
	}
)
