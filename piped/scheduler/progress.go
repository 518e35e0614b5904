// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// progress is a deployment while its stages run.
type progress struct {
	mu sync.Mutex // guards what changes in the deployment while stages run
	// deployment is a copy that belongs to the progress.
	deployment *model.Deployment
	// times are of the stages that were begun, by id.
	times map[string]startTimes
	// held is how long debuggers have held the attempts that have ended, by the id of the stage.
	held map[string]time.Duration
	// edited are the options that a user has given stages at breakpoints, by id.
	edited map[string][]byte
	// runs are the attempts with which users have had stages run once more, by id.
	runs map[string]int32
}

func newProgress(planned *model.Deployment) *progress {
	return &progress{deployment: proto.CloneOf(planned), times: map[string]startTimes{},
		held: map[string]time.Duration{}, edited: map[string][]byte{}, runs: map[string]int32{}}
}

func (p *progress) id() string { return p.deployment.GetId() }

// begunAny reports whether a stage has been begun, so that there may be something to undo.
func (p *progress) begunAny() bool {
	return slices.ContainsFunc(p.deployment.GetStages(), func(stage *model.PipelineStage) bool {
		return !stage.GetRollback() && stage.GetStatus() != model.StageStatus_STAGE_NOT_STARTED_YET
	})
}

// normalStages gives the stages of a quick sync that another piped planned the order that PipeCD v1 runs
// them in: it plans them without requirements.
func (p *progress) normalStages() []*model.PipelineStage {
	var normal []*model.PipelineStage
	connected := p.deployment.GetTrigger().GetSyncStrategy() != model.SyncStrategy_QUICK_SYNC
	for _, stage := range p.deployment.GetStages() {
		if !stage.GetRollback() {
			normal = append(normal, stage)
			connected = connected || len(stage.GetRequires()) > 0
		}
	}
	for i := 1; i < len(normal) && !connected; i++ {
		normal[i].Requires = []string{normal[i-1].GetId()}
	}
	return normal
}

// nextStage returns a stage that has not started, "" when there is none: its name.
func (p *progress) nextStage() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, stage := range p.deployment.GetStages() {
		if !stage.GetRollback() && stage.GetStatus() == model.StageStatus_STAGE_NOT_STARTED_YET {
			return stage.GetName()
		}
	}
	return ""
}

// set changes the status of a stage.
func (p *progress) set(stage *model.PipelineStage, status model.StageStatus, reason string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stage.Status, stage.StatusReason, stage.UpdatedAt = status, reason, now.Unix()
	if ended(stage) {
		stage.CompletedAt = stage.UpdatedAt
	}
}

// require sets what a rollback stage requires, unless an earlier piped has recorded that.
func (p *progress) require(stage *model.PipelineStage, requires []string) {
	if len(stage.GetRequires()) > 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	stage.Requires = requires
}

func (p *progress) countAttempt(stage *model.PipelineStage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stage.RetriedCount++
}

// takeUp goes on with a stage that an earlier piped has begun. Unless its attempt is over, another one follows.
func (p *progress) takeUp(stage *model.PipelineStage, now time.Time, over bool) {
	p.mu.Lock()
	p.times[stage.GetId()] = takenUp(stage, now)
	p.mu.Unlock()
	if !over {
		p.countAttempt(stage)
	}
}

// again begins a further attempt that a user wants, with its whole time.
func (p *progress) again(stage *model.PipelineStage, options []byte) {
	p.edit(stage, options)
	p.countAttempt(stage)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.times, stage.GetId())
	delete(p.held, stage.GetId())
}

// beginRun notes that a stage runs once more because a user wants it, from an attempt on.
func (p *progress) beginRun(stage *model.PipelineStage, attempt int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs[stage.GetId()] = attempt
}

// runOf is the attempt with which the present run of a stage began.
func (p *progress) runOf(stage *model.PipelineStage) int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[stage.GetId()]
}

// RunMetadataKey is the metadata of a stage, towards its plugin, with the attempt with which the present run began.
// A stage that no user had run once more has none.
const RunMetadataKey = "pipedeck/run"

// edit replaces the options of a stage; nil leaves them as they are.
func (p *progress) edit(stage *model.PipelineStage, options []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if options != nil {
		p.edited[stage.GetId()] = options
	}
}

// editedOptions are those of edit; nil for none.
func (p *progress) editedOptions(stage *model.PipelineStage) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.edited[stage.GetId()]
}

// firstStart is when the stage was started first: now, unless it was started before.
func (p *progress) firstStart(stage *model.PipelineStage, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	times, known := p.times[stage.GetId()]
	if !known {
		times = startTimes{first: now}
		p.times[stage.GetId()] = times
	}
	return times.first
}

func (p *progress) timesOf(stage *model.PipelineStage) startTimes {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.times[stage.GetId()]
}

// heldBefore is how long debuggers have held earlier attempts at a stage.
func (p *progress) heldBefore(stage *model.PipelineStage) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held[stage.GetId()]
}

// noteHeld notes how long debuggers hold the plugin of an attempt, which ends with the returned function.
func (p *progress) noteHeld(stage *model.PipelineStage, plugin *pluginhost.Plugin) (end func()) {
	before := plugin.HeldTime()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held[stage.GetId()] += plugin.HeldTime() - before
	}
}

// snapshot is the deployment as plugins see it: with the present statuses and metadata.
func (p *progress) snapshot(metadata Metadata) *model.Deployment {
	p.mu.Lock()
	d := proto.CloneOf(p.deployment)
	p.mu.Unlock()
	all, stages := metadata.Metadata(d.GetId())
	if all != nil {
		d.MetadataV2 = all
	}
	for _, stage := range d.GetStages() {
		if metadata, ok := stages[stage.GetId()]; ok {
			stage.Metadata = metadata
		}
		if run := p.runOf(stage); run > 0 {
			stage.Metadata = maps.Clone(stage.Metadata)
			if stage.Metadata == nil {
				stage.Metadata = map[string]string{}
			}
			stage.Metadata[RunMetadataKey] = strconv.Itoa(int(run))
		}
	}
	return d
}
