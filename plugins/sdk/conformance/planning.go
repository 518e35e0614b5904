// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

type stageConfig = deployment.BuildPipelineSyncStagesRequest_StageConfig

// plannedIndex is the place of the stage in the pipeline that is planned.
const plannedIndex = 3

// planned is a pipeline of the stage alone, with rollback.
type planned struct {
	stage  string
	stages []*model.PipelineStage
	err    error
}

// plan asks for the stages of a pipeline.
func (p *probe) plan(x *session, rollback bool, stages ...*stageConfig) ([]*model.PipelineStage, error) {
	ctx, cancel := p.limit()
	defer cancel()
	answer, err := x.deployments().BuildPipelineSyncStages(ctx,
		&deployment.BuildPipelineSyncStagesRequest{Rollback: rollback, Stages: stages})
	if died := x.gone(err); died != nil {
		return nil, died
	}
	return answer.GetStages(), err
}

// offers is what users may do to the stage while it runs.
func (s *suite) offers(p *probe) model.ManualOperation {
	plan := s.planOnce(p)
	if plan == nil {
		return model.ManualOperation_MANUAL_OPERATION_UNKNOWN
	}
	for _, stage := range usual(plan.stages, false) {
		return stage.GetAvailableOperation()
	}
	return model.ManualOperation_MANUAL_OPERATION_UNKNOWN
}

// planOnce is the plan that most cases look at; nil when there is none.
func (s *suite) planOnce(p *probe) *planned {
	x, err := s.sharedSession(p.ctx)
	if err != nil {
		return nil
	}
	plan, err := s.pipeline.get(func() (*planned, error) {
		stage := s.stage(x)
		stages, err := p.plan(x, true, s.configured(stage, plannedIndex))
		return &planned{stage, stages, err}, nil
	})
	if err != nil {
		return nil
	}
	return plan
}

// configured is a stage of a pipeline with the options of --with.
func (s *suite) configured(name string, index int32) *stageConfig {
	return &stageConfig{Name: name, Desc: fmt.Sprintf("description %d", index), Index: index, Config: []byte(s.with())}
}

// onePlan is the plan that most cases look at. A refusal is a separate outcome.
func (p *probe) onePlan() (*planned, error) {
	if _, err := p.shared(); err != nil {
		return nil, err
	}
	plan := p.suite.planOnce(p)
	if plan == nil || plan.err != nil {
		return nil, skip("it plans nothing, see planning.answers")
	}
	return plan, nil
}

// usual are the stages of a plan without rollback stages.
func usual(stages []*model.PipelineStage, rollback bool) []*model.PipelineStage {
	var found []*model.PipelineStage
	for _, stage := range stages {
		if stage.GetRollback() == rollback {
			found = append(found, stage)
		}
	}
	return found
}

func namesOf(stages []*model.PipelineStage) string {
	names := make([]string, 0, len(stages))
	for _, stage := range stages {
		name := stage.GetName()
		if stage.GetRollback() {
			name += " (rollback)"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "no stages"
	}
	return strings.Join(names, ", ")
}

// namesKnown fails for a stage that the plugin does not name.
func namesKnown(x *session, stages []*model.PipelineStage) error {
	for _, stage := range stages {
		if !slices.Contains(x.stages, stage.GetName()) {
			return fmt.Errorf("it plans %q, which FetchDefinedStages does not name", stage.GetName())
		}
	}
	return nil
}

// stagesValid holds stages to the rules of the protocol, completed as piped does.
func stagesValid(stages []*model.PipelineStage) error {
	for _, stage := range stages {
		whole := proto.CloneOf(stage)
		whole.Id = "id"
		if err := whole.Validate(); err != nil {
			return fmt.Errorf("stage %s: %w", stage.GetName(), err)
		}
		const seconds = 100_000_000_000 // the year 5138
		if stage.GetCreatedAt() > seconds || stage.GetUpdatedAt() > seconds {
			return fmt.Errorf("stage %s was created at %d, which is no time in seconds", stage.GetName(),
				max(stage.GetCreatedAt(), stage.GetUpdatedAt()))
		}
	}
	return nil
}

// notStarted fails for a stage that is planned with another status.
func notStarted(stages []*model.PipelineStage) error {
	for _, stage := range stages {
		if stage.GetStatus() != model.StageStatus_STAGE_NOT_STARTED_YET {
			return fmt.Errorf("it plans %s with the status %s", stage.GetName(), stage.GetStatus())
		}
	}
	return nil
}

// sameStages compares two plans but for times and ids.
func sameStages(a, b []*model.PipelineStage) error {
	if len(a) != len(b) {
		return fmt.Errorf("it planned %s, and then %s", namesOf(a), namesOf(b))
	}
	for i := range a {
		one, other := timeless(a[i]), timeless(b[i])
		if !proto.Equal(one, other) {
			return fmt.Errorf("the same request gave another answer: stage %d was %s (index %d), and then %s (index "+
				"%d)",
				i+1, one.GetName(), one.GetIndex(), other.GetName(), other.GetIndex())
		}
	}
	return nil
}

func timeless(stage *model.PipelineStage) *model.PipelineStage {
	stage = proto.CloneOf(stage)
	stage.Id, stage.CreatedAt, stage.UpdatedAt = "", 0, 0
	return stage
}

// refusedPlan is the outcome of a plan that the plugin refuses.
func (s *suite) refusedPlan(stage string, err error) error {
	if !refusal(err) {
		return fmt.Errorf("BuildPipelineSyncStages ended with %s", words(err))
	}
	return s.unsuccessful(fmt.Sprintf("it refuses this configuration of %s: %s", stage,
		firstLine(status.Convert(err).Message())))
}
