// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

func (r *run) deployments() deployment.DeploymentServiceClient {
	return deployment.NewDeploymentServiceClient(r.program.Conn)
}

// stages looks at the answer that came with the start.
func (r *run) stages() {
	r.check("names its stages", stagesError(r.program.Stages), "%s", strings.Join(r.program.Stages, ", "))
}

func stagesError(stages []string) error {
	if len(stages) == 0 {
		return errors.New("FetchDefinedStages names none: piped has nothing to call it for")
	}
	for i, stage := range stages {
		if strings.TrimSpace(stage) == "" || stage != strings.TrimSpace(stage) {
			return fmt.Errorf("FetchDefinedStages names %q, which is no name", stage)
		}
		if slices.Contains(stages[:i], stage) {
			return fmt.Errorf("FetchDefinedStages names %s twice", stage)
		}
	}
	return nil
}

// health is optional: piped looks at the connection and the process otherwise.
func (r *run) health() {
	const name = "reports its health"
	ctx, cancel := r.limit()
	defer cancel()
	answer, err := grpc_health_v1.NewHealthClient(r.program.Conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	switch {
	case status.Code(err) == codes.Unimplemented:
		r.notApplicable(name, "grpc.health.v1 is not served; a hang is found by calls of the plugin alone")
	case err == nil && answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING:
		r.check(name, fmt.Errorf("it says %s: piped would start it again", answer.GetStatus()), "")
	default:
		r.check(name, err, "SERVING")
	}
}

// planning asks what piped asks before a deployment.
func (r *run) planning() {
	ctx, cancel := r.limit()
	defer cancel()
	input := r.planInput()
	_, err := r.deployments().DetermineVersions(ctx, &deployment.DetermineVersionsRequest{Input: input})
	r.answered("reports versions", err)
	_, err = r.deployments().DetermineStrategy(ctx, &deployment.DetermineStrategyRequest{Input: input})
	r.answered("reports a strategy", err)

	quick, err := r.deployments().BuildQuickSyncStages(ctx, &deployment.BuildQuickSyncStagesRequest{Rollback: true})
	if err == nil {
		err = r.plannedError(quick.GetStages())
	}
	r.check("plans a quick sync", err, "%s", namesOf(quick.GetStages()))

	const pipeline = "plans a pipeline"
	answer, err := r.deployments().BuildPipelineSyncStages(ctx, &deployment.BuildPipelineSyncStagesRequest{
		Rollback: true, Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{{Name: r.stage(), Desc: "d",
			Index: 3, Config: []byte(r.with())}},
	})
	switch {
	case r.refusal(err):
		r.unsuccessful(pipeline, fmt.Sprintf("it refuses this configuration of %s: %s", r.stage(),
			status.Convert(err).Message()))
		return
	case err == nil:
		err = r.plannedError(answer.GetStages())
	}
	if err == nil {
		err = pipelineError(answer.GetStages(), r.stage())
	}
	r.check(pipeline, err, "%s", namesOf(answer.GetStages()))
}

// answered passes an error in the plugin's own words, such as about sources that are not there.
func (r *run) answered(name string, err error) {
	if r.refusal(err) {
		r.notApplicable(name, "it refuses this application: %s", status.Convert(err).Message())
		return
	}
	r.check(name, err, "")
}

// refusal is whether an error is an answer of the plugin to what it was given.
func (r *run) refusal(err error) bool {
	switch status.Code(err) {
	case codes.OK, codes.Unimplemented, codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return false
	}
	return r.alive() == nil
}

// plannedError holds stages to the rules of piped.
func (r *run) plannedError(stages []*model.PipelineStage) error {
	for _, stage := range stages {
		if !slices.Contains(r.program.Stages, stage.GetName()) {
			return fmt.Errorf("it plans %q, which FetchDefinedStages does not name", stage.GetName())
		}
		// As piped completes it.
		whole := &model.PipelineStage{
			Id: "id", Name: stage.GetName(), Index: stage.GetIndex(), CreatedAt: stage.GetCreatedAt(),
			UpdatedAt: stage.GetUpdatedAt(),
		}
		if err := whole.Validate(); err != nil {
			return fmt.Errorf("stage %s: %w", stage.GetName(), err)
		}
	}
	return nil
}

func pipelineError(stages []*model.PipelineStage, name string) error {
	normal := 0
	for _, stage := range stages {
		if stage.GetIndex() != 3 {
			return fmt.Errorf("stage %s has the index %d, which is not in the request", stage.GetName(),
				stage.GetIndex())
		}
		if !stage.GetRollback() {
			normal++
		}
	}
	if normal != 1 {
		return fmt.Errorf("it plans %d stages for the one stage %s, %s", normal, name, namesOf(stages))
	}
	return nil
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

func (r *run) planInput() *deployment.PlanPluginInput {
	in := r.request(r.stage()).GetInput()
	return &deployment.PlanPluginInput{Deployment: in.GetDeployment(),
		TargetDeploymentSource: in.GetTargetDeploymentSource()}
}

func (r *run) limit() (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.ctx, answerLimit)
}
