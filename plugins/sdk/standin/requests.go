// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// The ids in the requests that ExecuteRequest makes.
const (
	DeploymentID  = "deployment-1"
	ApplicationID = "application-1"
)

// StageID is the id that ExecuteRequest gives a stage.
func StageID(stage string) string { return strings.ToLower(stage) }

// ExecuteRequest makes a valid request to execute a stage of an application that the named plugin brings to targets.
// The stage's id is its name in lower case; options is the JSON of its "with".
func ExecuteRequest(plugin string, targets []string, stage, options string) *deployment.ExecuteStageRequest {
	const now = 1_800_000_000
	pipelineStage := &model.PipelineStage{Id: StageID(stage), Name: stage, CreatedAt: now, UpdatedAt: now,
		Status: model.StageStatus_STAGE_RUNNING}
	return &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
		Deployment: &model.Deployment{
			Id: DeploymentID, ApplicationId: ApplicationID, ApplicationName: "demo", PipedId: "piped-1",
			ProjectId: "project-1",
			GitPath: &model.ApplicationGitPath{
				Repo: &model.ApplicationGitRepository{Id: "repo-1", Remote: "file:///repo", Branch: "main"},
				Path: "demo", ConfigFilename: "app.pipecd.yaml",
			},
			Labels: map[string]string{"env": "dev"},
			Trigger: &model.DeploymentTrigger{
				Commit: &model.Commit{Hash: "0123456789abcdef", Message: "change", Author: "dev", Branch: "main",
					CreatedAt: now},
				Timestamp: now,
			},
			DeployTargetsByPlugin: map[string]*model.DeployTargets{plugin: {DeployTargets: targets}},
			Status:                model.DeploymentStatus_DEPLOYMENT_RUNNING,
			Stages:                []*model.PipelineStage{pipelineStage},
			CreatedAt:             now, UpdatedAt: now,
		},
		Stage:       pipelineStage,
		StageConfig: []byte(options),
		TargetDeploymentSource: &common.DeploymentSource{CommitHash: "0123456789abcdef",
			ApplicationConfigFilename: "app.pipecd.yaml"},
	}}
}
