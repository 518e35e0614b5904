// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"time"

	"github.com/pipedeck/pipedeck/api/model"
)

// Type is what has happened. Numbers and names are PipeCD v1's, except for ApplicationUnhealthy.
type Type int

// The types of events; the hundreds are the group.
const (
	DeploymentTriggered     Type = 0
	DeploymentPlanned       Type = 1
	DeploymentApproved      Type = 2
	DeploymentRollingBack   Type = 3
	DeploymentSucceeded     Type = 4
	DeploymentFailed        Type = 5
	DeploymentCancelled     Type = 6
	DeploymentWaitApproval  Type = 7
	DeploymentTriggerFailed Type = 8
	DeploymentStarted       Type = 9

	ApplicationSynced    Type = 100
	ApplicationOutOfSync Type = 101

	ApplicationHealthy   Type = 200
	ApplicationUnhealthy Type = 201

	PipedStarted Type = 300
	PipedStopped Type = 301

	StageStarted   Type = 400
	StageSkipped   Type = 401
	StageSucceeded Type = 402
	StageFailed    Type = 403
	StageCancelled Type = 404
)

var names = map[Type]string{
	DeploymentTriggered: "DEPLOYMENT_TRIGGERED", DeploymentPlanned: "DEPLOYMENT_PLANNED",
	DeploymentApproved:    "DEPLOYMENT_APPROVED",
	DeploymentRollingBack: "DEPLOYMENT_ROLLING_BACK", DeploymentSucceeded: "DEPLOYMENT_SUCCEEDED",
	DeploymentFailed:    "DEPLOYMENT_FAILED",
	DeploymentCancelled: "DEPLOYMENT_CANCELLED", DeploymentWaitApproval: "DEPLOYMENT_WAIT_APPROVAL",
	DeploymentTriggerFailed: "DEPLOYMENT_TRIGGER_FAILED", DeploymentStarted: "DEPLOYMENT_STARTED",
	ApplicationSynced: "APPLICATION_SYNCED", ApplicationOutOfSync: "APPLICATION_OUT_OF_SYNC",
	ApplicationHealthy: "APPLICATION_HEALTHY", ApplicationUnhealthy: "APPLICATION_UNHEALTHY",
	PipedStarted: "PIPED_STARTED", PipedStopped: "PIPED_STOPPED",
	StageStarted: "STAGE_STARTED", StageSkipped: "STAGE_SKIPPED", StageSucceeded: "STAGE_SUCCEEDED",
	StageFailed: "STAGE_FAILED", StageCancelled: "STAGE_CANCELLED",
}

// Types are all types by the names that configurations use: PipeCD's without its prefix EVENT_.
func Types() map[string]Type {
	types := make(map[string]Type, len(names))
	for t, name := range names {
		types[name] = t
	}
	return types
}

// String is the name without the prefix EVENT_.
func (t Type) String() string { return names[t] }

// Group is a set of types that configurations name together.
type Group string

// The groups, by PipeCD's names without the prefix EVENT_.
const (
	Deployments       Group = "DEPLOYMENT"
	ApplicationSync   Group = "APPLICATION_SYNC"
	ApplicationHealth Group = "APPLICATION_HEALTH"
	Piped             Group = "PIPED"
	Stages            Group = "STAGE"
)

// Groups are all groups.
func Groups() []Group {
	return []Group{Deployments, ApplicationSync, ApplicationHealth, Piped, Stages}
}

// Group reports what the type belongs to.
func (t Type) Group() Group { return Groups()[int(t)/100] }

// Event is one thing that has happened. What it points to is a copy, which listeners share and must not
// change.
type Event struct {
	Type Type
	// At is when it was reported.
	At time.Time
	// Deployment is set for deployments and stages; for DeploymentTriggerFailed it is the one that could not
	// be created. Only its id is known of a deployment that was never listed.
	Deployment *model.Deployment
	// Stage is set for stages, and for approvals.
	Stage *model.PipelineStage
	// Application is set for applications and for DeploymentTriggerFailed.
	Application *model.Application
	// SyncState is set for the group APPLICATION_SYNC.
	SyncState *model.ApplicationSyncState
	// Reason is why something failed or was cancelled; a summary for DeploymentPlanned. It may be empty.
	Reason string
	// Approver holds the names of those who approved, Commander the name of who cancelled; empty when not
	// known.
	Approver, Commander string
	// Took is how long the stage or the deployment went on that ends with this event; 0 for others and
	// when its start was not seen.
	Took time.Duration
	// Piped is set for the group PIPED.
	Piped *Identity
}

// Identity identifies a piped.
type Identity struct{ ID, Name, Version, ProjectID string }

// ApplicationName returns the name of the application that the event is about; empty for events of piped.
func (e *Event) ApplicationName() string {
	if e.Deployment != nil {
		return e.Deployment.GetApplicationName()
	}
	return e.Application.GetName()
}

// Labels returns the labels of the application; supported is false for types of events that have no application.
func (e *Event) Labels() (labels map[string]string, supported bool) {
	switch {
	case e.Deployment != nil:
		return e.Deployment.GetLabels(), true
	case e.Application != nil:
		return e.Application.GetLabels(), true
	}
	return nil, false
}
