// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import "time"

// Deployment is one run of a change of an application, as piped knows it when it asks the plugin. It is a copy: changes
// to it reach no one.
type Deployment struct {
	ID          string
	Application Application
	PipedID     string
	ProjectID   string
	// Trigger is what began the deployment.
	Trigger Trigger
	// RunningCommit is the hash of the commit of the last successful deployment; empty before the first one.
	RunningCommit string
	// Summary is the reason of the strategy, for users; empty while the deployment is being planned.
	Summary string
	// Versions are empty while the deployment is being planned.
	Versions []ArtifactVersion
	// Stages are empty while the deployment is being planned.
	Stages []StageState
	// Targets names the deploy targets of the application by the names of their plugins, other plugins included.
	Targets   map[string][]string
	CreatedAt time.Time
}

// Application is what a deployment is of.
type Application struct {
	ID     string
	Name   string
	Labels map[string]string
	// RepositoryID is the name of the repository in the piped configuration.
	RepositoryID string
	// Remote is the address of the repository.
	Remote string
	Branch string
	// Path is the directory of the application below the root of the repository.
	Path string
	// ConfigFilename is the base name of the application configuration in Path.
	ConfigFilename string
}

// Trigger is what began a deployment.
type Trigger struct {
	Commit Commit
	// Commander is the user who asked for the deployment; empty when a commit did.
	Commander string
	At        time.Time
	// Sync is the strategy that was asked for; SyncAuto leaves it to the plugins.
	Sync SyncStrategy
	// Summary is why that strategy was asked for.
	Summary string
}

// Commit is a commit of the repository of an application.
type Commit struct {
	Hash    string
	Message string
	Author  string
	Branch  string
	// PullRequest is the number of the pull request that brought the commit; 0 is none, or not known.
	PullRequest int
	URL         string
	CreatedAt   time.Time
}

// ArtifactVersion is the version of something that a deployment brings out.
type ArtifactVersion struct {
	Name    string
	Version string
	// URL is where users find the version; it may be empty.
	URL string
}

// StageState is a stage of a deployment that has been planned.
type StageState struct {
	// ID is unique within the deployment.
	ID   string
	Name string
	Desc string
	// Index is the position in the configured pipeline, from 0.
	Index    int
	Rollback bool
	// Requires are the ids of the stages that have to end first.
	Requires []string
	Status   StageStatus
	// Reason is why the stage failed, was cancelled or was skipped.
	Reason   string
	Metadata map[string]string
	// Attempt counts the earlier executions of the stage, from 0.
	Attempt int
	// Run is the attempt with which the present run began: 0, or a later one when a user had the stage run once more
	// at a breakpoint. A StageKey does not find what the attempts before it have put.
	Run int
	// Operation is what Operators, or everyone when that is empty, may do to the stage while it runs.
	Operation Operation
	Operators []string
	CreatedAt time.Time
	// CompletedAt is the zero time while the stage has not ended.
	CompletedAt time.Time
}

// StageStatus is how far a stage is.
type StageStatus int

// The statuses of stages.
const (
	StageNotStarted StageStatus = iota
	StageRunning
	StageSuccess
	StageFailure
	StageCancelled
	StageSkipped
	StageExited
)

// String is the name of the status in the protocol and in the output of pipedeck: "STAGE_SUCCESS".
func (s StageStatus) String() string { return s.wire().String() }

// SyncStrategy is how a deployment reaches the wanted state.
type SyncStrategy int

// The strategies.
const (
	// SyncAuto is no choice.
	SyncAuto SyncStrategy = iota
	// QuickSync is at once, by the stages of BuildQuickSyncStages.
	QuickSync
	// PipelineSync is by the stages of the configured pipeline.
	PipelineSync
)

// String is the name of the strategy in the protocol: "QUICK_SYNC".
func (s SyncStrategy) String() string { return s.wire().String() }
