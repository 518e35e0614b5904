// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/json"
	"errors"
)

// Result is how a stage ended.
type Result int

const (
	// Success lets the next stage start.
	Success Result = iota + 1
	// Failure ends the deployment, and rolls it back when the application wants that.
	Failure
	// Exited ends the deployment as a success now.
	Exited
	// Skipped lets the next stage start and shows that this one did not do its work.
	Skipped
)

// Operation is what a user may do to a running stage.
type Operation int

const (
	OperationNone Operation = iota
	OperationApprove
	OperationSkip
)

// StageConfig is one stage of a configured pipeline.
type StageConfig struct {
	Name string
	Desc string
	// Index is the position in the whole pipeline, from 0.
	Index int
	// Options is the JSON of the stage's "with"; {} when absent.
	Options json.RawMessage
}

// Stage is one stage of a deployment being planned.
type Stage struct {
	Name string
	// Desc is shown to users. In a pipeline the configured description wins.
	Desc string
	// Index is that of the StageConfig it stems from; a normal and a rollback stage may share one.
	Index     int
	Rollback  bool
	Metadata  map[string]string
	Operation Operation
	// Operators are the users who may do the operation; empty is everyone.
	Operators []string
}

// Strategy is how a change should be brought out.
type Strategy struct {
	// Sync is QuickSync or PipelineSync.
	Sync SyncStrategy
	// Summary is shown to users as the reason.
	Summary string
	// Unsupported leaves the choice to the other plugins.
	Unsupported bool
}

// WaitingMetadataKey is the key of stage metadata with which a plugin says whether a stage that offers an operation
// waits for it now: WaitingNo, from the plan of the stage on, or WaitingYes. Without it, such a stage waits while it
// runs. Only pipedeck knows it.
const (
	WaitingMetadataKey = "pipedeck/waiting"
	WaitingYes         = "yes"
	WaitingNo          = "no"
)

const (
	// PlannedChangesMetadataKey is the key of stage metadata with what a stage changes, or would change, as JSON in the
	// form that docs/protocol.md describes. It must not hold secrets. Only pipedeck knows it, and shows it as a table.
	PlannedChangesMetadataKey = "pipedeck/planned-changes"
	// ApprovalSubjectMetadataKey holds in one line what the approval that a stage waits for is about ("destroys
	// database"). Only pipedeck knows it, and shows it next to the key that approves.
	ApprovalSubjectMetadataKey = "pipedeck/approval-subject"
)

// Keys of stage metadata that PipeCD's UIs know.
const (
	// DisplayMetadataKey holds a short text shown next to the stage.
	DisplayMetadataKey = "pipecd/stage-display-metadata"
	// ApprovedUsersMetadataKey holds the names of those who approved, separated by ", ".
	ApprovedUsersMetadataKey = "pipecd/stage-approved-users"
)

// CopyStages plans each configured stage as it is, with no rollback stages.
func CopyStages(configs []StageConfig) []Stage {
	stages := make([]Stage, 0, len(configs))
	for _, c := range configs {
		stages = append(stages, Stage{Name: c.Name, Index: c.Index})
	}
	return stages
}

// status is how the stage ends in the protocol.
func (r Result) status() (StageStatus, error) {
	switch r {
	case Success:
		return StageSuccess, nil
	case Failure:
		return StageFailure, nil
	case Exited:
		return StageExited, nil
	case Skipped:
		return StageSkipped, nil
	}
	return StageFailure, errors.New("the plugin returned no result for the stage")
}
