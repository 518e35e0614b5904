// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package decktest

import deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"

// Synced is Application when its newest deployment has succeeded.
func Synced() *deckv1.Application {
	app := Application()
	app.Sync, app.Deploying = deckv1.SyncStatus_SYNC_STATUS_SYNCED, false
	app.DeployTargets = []string{"kubernetes/local"}
	return app
}

// First is the first deployment of the example application: a quick sync that has succeeded.
func First() *deckv1.Deployment {
	return &deckv1.Deployment{
		Id: "dep-0", ApplicationId: "app-1", ApplicationName: "hello-world",
		Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, Strategy: "QUICK_SYNC",
		Summary: "first deployment of this application",
		Commit: &deckv1.Commit{Hash: "3f2a1c9b0a7d", Message: "Start from the sample applications", Author: "Ada",
			Branch: "main"},
		CreatedAt: At(-60), CompletedAt: At(-58.1),
		Stages: []*deckv1.Stage{{Id: "s0", Name: "K8S_SYNC", Desc: "Apply all manifests",
			Status: deckv1.StageStatus_STAGE_STATUS_SUCCESS, StartedAt: At(-59.9), CompletedAt: At(-58.2)}},
	}
}

// Named is Canary with stages that have ids.
func Named() *deckv1.Deployment { return named(Canary()) }

// Succeeded is Named at its end.
func Succeeded() *deckv1.Deployment {
	d := named(Failed())
	d.Status, d.StatusReason = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, ""
	primary, clean, rollback := d.Stages[3], d.Stages[4], d.Stages[5]
	for _, stage := range []*deckv1.Stage{primary, clean} {
		stage.Status, stage.StatusReason = deckv1.StageStatus_STAGE_STATUS_SUCCESS, ""
	}
	clean.StartedAt, clean.CompletedAt = At(35), At(38)
	rollback.Status = deckv1.StageStatus_STAGE_STATUS_NOT_STARTED
	rollback.StartedAt, rollback.CompletedAt = nil, nil
	return d
}

// NamedFailed is Failed with stages that have ids.
func NamedFailed() *deckv1.Deployment { return named(Failed()) }

// named gives the stages of the pipeline of Canary the ids of those of the sample application.
func named(d *deckv1.Deployment) *deckv1.Deployment {
	for i, id := range []string{"canary", "wait", "approve", "primary", "clean"} {
		d.Stages[i].ConfigId = id
	}
	return d
}
