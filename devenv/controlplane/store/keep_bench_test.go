// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// full is a store with as many deployments as it keeps, each with a log.
func full(b *testing.B) (*store.Store, *journal.Journal) {
	s, j := reopen(b, filepath.Join(b.TempDir(), "history"), store.Limits{})
	for i := range 1000 {
		app, id := fmt.Sprint("a", i%100), fmt.Sprint("d", i)
		if i < 100 {
			importApplication(s, app, nil)
		}
		plan := &pipedservice.ReportDeploymentPlannedRequest{DeploymentId: id}
		for n := range 6 {
			plan.Stages = append(plan.Stages, &model.PipelineStage{Id: fmt.Sprint(id, "-", n), Name: "SCRIPT_RUN"})
		}
		require.NoError(b, s.Deployments.Create(piped, newDeployment(id, app)))
		require.NoError(b, s.Deployments.ReportPlanned(piped, plan))
		require.NoError(b, s.Deployments.AppendLog(piped,
			store.LogReport{DeploymentID: id, StageID: id + "-0",
				Blocks: blocks(0, 100, "a line of a log as scripts write them")}))
		if i < 999 {
			require.NoError(b, s.Deployments.ReportCompleted(piped, &pipedservice.ReportDeploymentCompletedRequest{
				DeploymentId: id, Status: model.DeploymentStatus_DEPLOYMENT_SUCCESS, CompletedAt: 1,
			}))
		}
	}
	kept(b, j)
	return s, j
}

// A report until it is on the disk: encoding the deployment, one write, one fsync.
func BenchmarkStageReportKept(b *testing.B) {
	s, j := full(b)
	for b.Loop() {
		require.NoError(b, s.Deployments.ReportStage(piped,
			&pipedservice.ReportStageStatusChangedRequest{DeploymentId: "d999", StageId: "d999-3",
				Status: model.StageStatus_STAGE_RUNNING}))
		kept(b, j)
	}
}

// How long reports wait while a full history is replaced by a snapshot.
func BenchmarkSnapshot(b *testing.B) {
	s, j := full(b)
	for b.Loop() {
		j.Replace()
		require.NoError(b, s.Deployments.ReportStage(piped,
			&pipedservice.ReportStageStatusChangedRequest{DeploymentId: "d999", StageId: "d999-3",
				Status: model.StageStatus_STAGE_RUNNING}))
		kept(b, j)
	}
	b.ReportMetric(float64(j.Size())/(1<<20), "MiB")
}
