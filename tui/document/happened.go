// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"

// What can happen to an application.
const (
	DeploymentCreated = "DEPLOYMENT_CREATED"
	StageStarted      = "STAGE_STARTED"
	StageApproved     = "STAGE_APPROVED"
	StageEnded        = "STAGE_ENDED"
	DeploymentEnded   = "DEPLOYMENT_ENDED"
)

// ApplicationEvents is the document of pipedeck events.
type ApplicationEvents struct {
	Head
	// App is the name of the application.
	App string `json:"app"`
	// AppID is the id of the application.
	AppID string `json:"app_id"`
	// Events are in the order of their times.
	Events []ApplicationEvent `json:"events"`
}

// ApplicationEvent is what happened to an application at one time.
type ApplicationEvent struct {
	// Time is when it happened.
	Time string `json:"time" format:"date-time"`
	// Type says what happened.
	Type string `json:"type" words:"happened"`
	// Deployment is the id of the deployment.
	Deployment string `json:"deployment"`
	// Commit is the hash of the commit that it deploys.
	Commit string `json:"commit"`
	// Stage is the id of the stage; empty for a deployment.
	Stage string `json:"stage"`
	// Name is what the stage is called; empty for a deployment.
	Name string `json:"name"`
	// Status is the one that the deployment or the stage has ended with; empty before.
	Status string `json:"status"`
	// Reason says why it has this status, or why the deployment was created.
	Reason string `json:"reason"`
	// By is the user who asked for the deployment or approved the stage; empty when no user did.
	By string `json:"by"`
}

// NewApplicationEvents returns the document of what happened to an application.
func NewApplicationEvents(app *deckv1.Application, events []ApplicationEvent) ApplicationEvents {
	return ApplicationEvents{NewHead(), app.GetName(), app.GetId(), List(events)}
}
