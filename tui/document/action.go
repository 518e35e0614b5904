// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

// Action is the document of commands that ask an environment to act: sync, retry, rollback, approve, skip, cancel,
// restart, and attach and detach of plugins.
type Action struct {
	Head
	// Action is the name of the command.
	Action string `json:"action"`
	// App is the name of the application; empty for restart.
	App string `json:"app"`
	// AppID is the id of the application.
	AppID string `json:"app_id"`
	// Deployment is the id of the deployment that was created, or that the action is about; empty while piped has not
	// created it.
	Deployment string `json:"deployment"`
	// Stage is the id of the stage; empty for actions on deployments.
	Stage string `json:"stage"`
	// StageName is the type of the stage.
	StageName string `json:"stage_name"`
	// Commit is the commit that is deployed again, or whose stage was approved or skipped; empty for other actions.
	Commit string `json:"commit"`
	// Of is the id of the deployment whose commit is deployed again.
	Of string `json:"of"`
	// Plugin is the plugin that is started again, attached or detached.
	Plugin string `json:"plugin"`
	// Piped is the id of the piped of the plugin.
	Piped string `json:"piped"`
	// Command is the id of the command that piped gets.
	Command string `json:"command"`
	// Unanswered says why piped has not answered; empty when it has.
	Unanswered string `json:"unanswered"`
	// Text says what was done, as without -o.
	Text string `json:"text"`
}

// Opened is the document of pipedeck open.
type Opened struct {
	Head
	Address
}
