// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"encoding/json"
	"strings"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/breakpoint"
)

// PauseMetadataKey is the metadata of a stage with its pause at a breakpoint: a JSON object, for user interfaces and
// for the next piped. Another control plane than ours keeps it and never shows it.
const PauseMetadataKey = "pipedeck/paused"

// maxPauseOptions bounds the options of a stage in its pause.
const maxPauseOptions = 16 << 10

// maxPauseReason bounds the reason in a pause.
const maxPauseReason = 4 << 10

// pauseNote is what is kept of the pause of a stage.
type pauseNote struct {
	// When is the word of the breakpoint; empty when the stage is not paused any more.
	When string `json:"when,omitempty"`
	// Since is a Unix time in milliseconds.
	Since   int64 `json:"since,omitempty"`
	Attempt int32 `json:"attempt,omitempty"`
	// Status and Reason are how the attempt has ended.
	Status string `json:"status,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Held is how long earlier pauses of the stage were, in milliseconds.
	Held int64 `json:"held,omitempty"`
	// Edited says that the attempt has other options than those in Git.
	Edited bool `json:"edited,omitempty"`
	// Run is the attempt with which a run began that a user wanted once more; 0 for none.
	Run int32 `json:"run,omitempty"`

	Directory           string `json:"directory,omitempty"`
	RepositoryDirectory string `json:"repositoryDirectory,omitempty"`
	RunningDirectory    string `json:"runningDirectory,omitempty"`
	Options             string `json:"options,omitempty"`
}

// noteOf is the pause of a stage as the control plane keeps it; zero for none.
func noteOf(stage *model.PipelineStage) (n pauseNote) {
	if json.Unmarshal([]byte(stage.GetMetadata()[PauseMetadataKey]), &n) != nil {
		return pauseNote{}
	}
	return n
}

// result is how the attempt of a stage that is paused after it has ended; false when it has not.
func (n pauseNote) result() (stageResult, bool) {
	status := model.StageStatus(model.StageStatus_value["STAGE_"+n.Status])
	ended := n.When == breakpoint.After || n.When == breakpoint.Failure
	if !ended || status <= model.StageStatus_STAGE_RUNNING {
		return stageResult{}, false
	}
	return stageResult{status: status, reason: n.Reason}, true
}

// pausedBefore reports that the stage waits for a user before its next attempt.
func (n pauseNote) pausedBefore() bool {
	return n.When == breakpoint.Before || n.When == "" && n.Edited
}

// heldBy is how long the pauses of a stage were until now.
func (n pauseNote) heldBy(stage *model.PipelineStage, now time.Time) time.Duration {
	held := time.Duration(n.Held) * time.Millisecond
	if n.When == "" {
		return held
	}
	if ended(stage) {
		now = time.Unix(stage.GetCompletedAt(), 0)
	}
	return held + max(0, now.Sub(time.UnixMilli(n.Since)))
}

// heldEarlier is how long the stages of a deployment were paused until now, under earlier pipeds.
func heldEarlier(d *model.Deployment, now time.Time) (held time.Duration) {
	for _, stage := range d.GetStages() {
		held += noteOf(stage).heldBy(stage, now)
	}
	return held
}

// endWord is how an attempt has ended, as a note has it.
func endWord(status model.StageStatus) string { return strings.TrimPrefix(status.String(), "STAGE_") }

// words are those of breakpoints by when they stop.
var words = map[agentv1.Breakpoint_When]string{
	agentv1.Breakpoint_WHEN_BEFORE: breakpoint.Before, agentv1.Breakpoint_WHEN_AFTER: breakpoint.After,
	agentv1.Breakpoint_WHEN_FAILURE: breakpoint.Failure,
}
