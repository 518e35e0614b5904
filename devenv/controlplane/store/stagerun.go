// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/json"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// Bounds of what is kept of a stage.
const (
	maxRunAttempts = 20
	maxRunConfig   = 4 << 10
	maxApprovals   = 50
	// maxKeptConfig bounds the options of a stage in the journal, which has a whole deployment at each of its changes.
	maxKeptConfig = 512
)

// approvalsKey is the stage metadata in which the plugin of WAIT_APPROVAL keeps who has approved, a JSON list.
const approvalsKey = "approvals"

// noteRun keeps what a stage is executed with, from the metadata of its report, and its attempts.
func (d *deployment) noteRun(stage *model.PipelineStage, run *agentv1.StageRun, now time.Time) {
	if d.runs[stage.GetId()] == nil && stage.GetStatus() != model.StageStatus_STAGE_RUNNING {
		return
	}
	d.changeRun(stage, func(known *deckv1.GetStageRunResponse) {
		if run != nil && len(run.GetConfig()) <= maxRunConfig {
			known.Config, known.Timeout, known.Plugin = string(run.GetConfig()), run.GetTimeout(), run.GetPlugin()
		}
		known.Attempts = attempts(known.GetAttempts(), stage, now)
	})
}

// noteBuild keeps which build of a plugin executes an attempt of a stage, and reports whether that is news.
func (d *deployment) noteBuild(stage *model.PipelineStage, attempt int32, run *agentv1.StageRun) bool {
	build := run.GetBuild()
	known := d.runs[stage.GetId()].GetAttempts()
	if build.GetHash() == "" || len(known) == 0 || known[len(known)-1].GetNumber() != attempt+1 {
		return false
	}
	d.changeRun(stage, func(known *deckv1.GetStageRunResponse) {
		known.Plugin = run.GetPlugin()
		known.Attempts[len(known.GetAttempts())-1].Build = &deckv1.PluginBuild{
			Hash: build.GetHash(), BuiltAt: build.GetBuiltAt(), Version: build.GetVersion(),
		}
	})
	return true
}

// changeRun changes what is known of a stage. Readers may have what was known before, so that stays as it is.
func (d *deployment) changeRun(stage *model.PipelineStage, change func(*deckv1.GetStageRunResponse)) {
	next := &deckv1.GetStageRunResponse{}
	if known := d.runs[stage.GetId()]; known != nil {
		next = proto.CloneOf(known)
	}
	change(next)
	if d.runs == nil {
		d.runs = map[string]*deckv1.GetStageRunResponse{}
	}
	d.runs[stage.GetId()] = next
}

// attempts returns the attempts of a stage after a report of its status.
func attempts(list []*deckv1.StageAttempt, stage *model.PipelineStage, now time.Time) []*deckv1.StageAttempt {
	number := stage.GetRetriedCount() + 1
	var last *deckv1.StageAttempt
	if len(list) > 0 {
		last = list[len(list)-1]
	}
	if last != nil && last.GetNumber() != number && last.GetEndedAt() == nil {
		last.EndedAt, last.Status = timestamppb.New(now), deckv1.StageStatus_STAGE_STATUS_UNSPECIFIED
	}
	if last.GetNumber() != number && stage.GetStatus() == model.StageStatus_STAGE_RUNNING {
		last = &deckv1.StageAttempt{
			Number: number, StartedAt: timestamppb.New(now), Status: deckv1.StageStatus_STAGE_STATUS_RUNNING,
		}
		list = append(list, last)
	}
	if ended(stage.GetStatus()) && last.GetNumber() == number && last.GetEndedAt() == nil {
		last.EndedAt, last.Status = timestamppb.New(now), runEnds[stage.GetStatus()]
		last.Reason = stage.GetStatusReason()
	}
	return list[max(0, len(list)-maxRunAttempts):]
}

// runEnds are the ends of attempts by those of stages.
var runEnds = map[model.StageStatus]deckv1.StageStatus{
	model.StageStatus_STAGE_SUCCESS:   deckv1.StageStatus_STAGE_STATUS_SUCCESS,
	model.StageStatus_STAGE_FAILURE:   deckv1.StageStatus_STAGE_STATUS_FAILURE,
	model.StageStatus_STAGE_CANCELLED: deckv1.StageStatus_STAGE_STATUS_CANCELLED,
	model.StageStatus_STAGE_SKIPPED:   deckv1.StageStatus_STAGE_STATUS_SKIPPED,
	model.StageStatus_STAGE_EXITED:    deckv1.StageStatus_STAGE_STATUS_EXITED,
}

// noteApprovals notes the time of the approvals that the notes of a stage have for the first time.
func (d *deployment) noteApprovals(stage *model.PipelineStage, now time.Time) {
	var users []string
	if json.Unmarshal([]byte(stage.GetMetadata()[approvalsKey]), &users) != nil {
		return
	}
	known := d.runs[stage.GetId()].GetApprovals()
	var added []*deckv1.StageApproval
	for _, user := range users {
		of := func(a *deckv1.StageApproval) bool { return a.GetUser() == user }
		if len(known)+len(added) < maxApprovals && !slices.ContainsFunc(known, of) && !slices.ContainsFunc(added, of) {
			added = append(added, &deckv1.StageApproval{User: user, At: timestamppb.New(now)})
		}
	}
	if len(added) > 0 {
		d.changeRun(stage, func(run *deckv1.GetStageRunResponse) { run.Approvals = append(run.Approvals, added...) })
	}
}

// decodeRun takes what encodeRun wrote. What cannot be read is as if it had not been kept.
func (d *deployment) decodeRun(id string, data []byte) {
	run := &deckv1.GetStageRunResponse{}
	if len(data) == 0 || proto.Unmarshal(data, run) != nil {
		return
	}
	if d.runs == nil {
		d.runs = map[string]*deckv1.GetStageRunResponse{}
	}
	d.runs[id] = run
}

// encodeRun is what the journal keeps of the attempts and approvals of a stage; nil for none.
func (d *deployment) encodeRun(id string) []byte {
	run := d.runs[id]
	if run == nil {
		return nil
	}
	if len(run.GetConfig()) > maxKeptConfig {
		run = proto.CloneOf(run)
		run.Config = ""
	}
	return encode(run)
}
