// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// What the control plane's state adds to a stage: its two statuses and a short log, with a watcher.
func BenchmarkStageReports(b *testing.B) {
	s := store.New(store.Options{ProjectID: project})
	s.Pipeds.Add(piped, "p", "", store.KeyHash{})
	s.Applications.Import(&model.Application{Id: "a", Name: "a", PipedId: piped, ProjectId: project})
	require.NoError(b, s.Deployments.Create(piped, &model.Deployment{
		Id: "d", ApplicationId: "a", PipedId: piped, ProjectId: project, Trigger: &model.DeploymentTrigger{},
	}))
	plan := &pipedservice.ReportDeploymentPlannedRequest{DeploymentId: "d"}
	for i := range 10 {
		plan.Stages = append(plan.Stages, &model.PipelineStage{Id: fmt.Sprint(i), Name: "SCRIPT_RUN"})
	}
	require.NoError(b, s.Deployments.ReportPlanned(piped, plan))
	sub, _ := s.Subscribe(true)
	defer sub.Close()
	ctx, index := context.Background(), int64(0)
	for b.Loop() {
		for _, status := range []model.StageStatus{model.StageStatus_STAGE_RUNNING, model.StageStatus_STAGE_SUCCESS} {
			require.NoError(b, s.Deployments.ReportStage(piped,
				&pipedservice.ReportStageStatusChangedRequest{DeploymentId: "d", StageId: "3", Status: status}))
		}
		index++
		require.NoError(b, s.Deployments.AppendLog(piped, store.LogReport{
			DeploymentID: "d", StageID: "3", Blocks: []*model.LogBlock{{Index: index, Log: "line"}},
		}))
		_, err := sub.Next(ctx)
		require.NoError(b, err)
	}
}
