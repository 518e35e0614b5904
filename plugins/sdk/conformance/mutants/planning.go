// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

const (
	work         = "WORK"
	workRollback = "WORK_ROLLBACK"
	unheard      = "UNHEARD"
)

// deployments plans and runs stages.
type deployments struct {
	deployment.UnimplementedDeploymentServiceServer
	*plugin
}

func (d *deployments) FetchDefinedStages(context.Context,
	*deployment.FetchDefinedStagesRequest) (*deployment.FetchDefinedStagesResponse, error) {
	d.mu.Lock()
	d.asked++
	asked := d.asked
	d.mu.Unlock()
	if makes("serving-early") && time.Since(began) < time.Second {
		return nil, status.Error(codes.Unavailable, "not yet")
	}
	stages := []string{work, workRollback, "WORK_CHECK"}
	switch {
	case makes("no-stages"):
		stages = nil
	case makes("stage-blank"):
		stages = append(stages, "MY WORK")
	case makes("stage-twice"):
		stages = append(stages, work)
	case makes("stages-change") && asked > 1:
		stages = stages[:2]
	}
	return &deployment.FetchDefinedStagesResponse{Stages: stages}, nil
}

func (d *deployments) BuildPipelineSyncStages(_ context.Context,
	req *deployment.BuildPipelineSyncStagesRequest) (*deployment.BuildPipelineSyncStagesResponse, error) {
	if makes("plan-waits") {
		d.planning.Lock()
		defer d.planning.Unlock()
	}
	if makes("plan-fails") {
		return nil, status.Error(codes.Unimplemented, "not yet")
	}
	answer := &deployment.BuildPipelineSyncStagesResponse{}
	if makes("plans-from-nothing") && len(req.GetStages()) == 0 {
		answer.Stages = append(answer.Stages, stage(work, 0))
	}
	named := map[string]bool{}
	for i, configured := range req.GetStages() {
		if configured.GetName() != work && configured.GetName() != "WORK_CHECK" && !makes("plans-another") {
			return nil, status.Errorf(codes.InvalidArgument, "there is no stage %s", configured.GetName())
		}
		if err := json.Unmarshal(configured.GetConfig(), &options{}); err != nil && len(configured.GetConfig()) > 0 &&
			!makes("options-any") {
			if makes("plan-crashes") {
				panic(err)
			}
			if makes("refuses-unknown") {
				return nil, err
			}
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		if makes("leaks-memory") {
			d.mu.Lock()
			d.kept = append(d.kept, configured.GetConfig())
			d.mu.Unlock()
		}
		if makes("stages-by-name") && named[configured.GetName()] || makes("one-stage-alone") && i > 0 {
			continue
		}
		named[configured.GetName()] = true
		planned := stage(configured.GetName(), configured.GetIndex())
		if makes("indexes-swapped") {
			planned.Index = req.GetStages()[len(req.GetStages())-1-i].GetIndex()
		}
		planned.Desc = configured.GetDesc()
		answer.Stages = append(answer.Stages, mistaken(planned, i)...)
	}
	if len(req.GetStages()) > 0 && (req.GetRollback() || makes("rollback-always")) &&
		!makes("rollback-never", "rollback-optional") {
		rollback := stage(workRollback, req.GetStages()[0].GetIndex())
		rollback.Rollback = !makes("rollback-unmarked")
		if makes("rollback-index") {
			rollback.Index = 99
		}
		answer.Stages = append(answer.Stages, rollback)
	}
	if makes("map-order") {
		rand.Shuffle(len(answer.Stages), func(i, j int) {
			answer.Stages[i], answer.Stages[j] = answer.Stages[j], answer.Stages[i]
		})
	}
	return answer, nil
}

func stage(name string, index int32) *model.PipelineStage {
	now := time.Now().Unix()
	return &model.PipelineStage{Name: name, Index: index, CreatedAt: now, UpdatedAt: now,
		AvailableOperation: model.ManualOperation_MANUAL_OPERATION_NONE}
}

// mistaken makes the mistakes of one planned stage.
func mistaken(planned *model.PipelineStage, place int) []*model.PipelineStage {
	switch {
	case makes("index-lost"):
		planned.Index = 0
	case makes("index-from-zero"):
		planned.Index = int32(place)
	case makes("plans-stranger"):
		planned.Name = unheard
	case makes("plans-another"):
		planned.Name = work
	case makes("description-lost"):
		planned.Desc = ""
	case makes("no-times"):
		planned.CreatedAt = 0
	case makes("times-in-nanoseconds"):
		planned.CreatedAt = time.Now().UnixNano()
	case makes("planned-done"):
		planned.Status = model.StageStatus_STAGE_SUCCESS
	case makes("plans-too-much"):
		return []*model.PipelineStage{planned, stage(work, planned.GetIndex())}
	}
	return []*model.PipelineStage{planned}
}

func (d *deployments) BuildQuickSyncStages(_ context.Context,
	req *deployment.BuildQuickSyncStagesRequest) (*deployment.BuildQuickSyncStagesResponse, error) {
	if makes("quick-missing") {
		return nil, status.Error(codes.Unimplemented, "not yet")
	}
	sync := stage(work, 0)
	switch {
	case makes("quick-stranger"):
		sync.Name = unheard
	case makes("quick-no-times"):
		sync.UpdatedAt, sync.CreatedAt = 1, -1
	}
	stages := []*model.PipelineStage{sync}
	if makes("rollback-optional") { // as a plugin of stages
		return &deployment.BuildQuickSyncStagesResponse{}, nil
	}
	if req.GetRollback() && !makes("quick-rollback-never") || makes("quick-rollback-always") {
		rollback := stage(workRollback, 0)
		rollback.Rollback = true
		stages = append(stages, rollback)
	}
	return &deployment.BuildQuickSyncStagesResponse{Stages: stages}, nil
}

func (d *deployments) DetermineVersions(_ context.Context,
	req *deployment.DetermineVersionsRequest) (*deployment.DetermineVersionsResponse, error) {
	renders("versions-rendered", req.Input.TargetDeploymentSource)
	version := &model.ArtifactVersion{Name: "demo",
		Version: req.Input.TargetDeploymentSource.CommitHash}
	switch {
	case makes("versions-missing"):
		return nil, status.Error(codes.Unimplemented, "not yet")
	case makes("version-empty"):
		version.Version = ""
	case makes("version-random"):
		version.Version = strconv.Itoa(rand.Int())
	}
	return &deployment.DetermineVersionsResponse{Versions: []*model.ArtifactVersion{version}}, nil
}

func (d *deployments) DetermineStrategy(_ context.Context,
	req *deployment.DetermineStrategyRequest) (*deployment.DetermineStrategyResponse, error) {
	if req.Input.Deployment.GetApplicationName() == "" {
		return nil, status.Error(codes.InvalidArgument, "no application")
	}
	renders("strategy-rendered", req.Input.TargetDeploymentSource)
	renders("strategy-rendered-running", req.Input.RunningDeploymentSource)
	answer := &deployment.DetermineStrategyResponse{SyncStrategy: model.SyncStrategy_PIPELINE, Summary: "as always"}
	switch {
	case makes("strategy-missing"):
		return nil, status.Error(codes.Unimplemented, "not yet")
	case makes("strategy-auto"):
		answer.SyncStrategy = model.SyncStrategy_AUTO
	case makes("strategy-random"):
		answer.Summary = strconv.Itoa(rand.Int())
	case makes("needs-running"):
		answer.Summary = "from " + req.Input.RunningDeploymentSource.CommitHash
	}
	return answer, nil
}
