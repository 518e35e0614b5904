// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestAStageWaitsForAnApprovalWhenItsPluginDoesNotSayOtherwise(t *testing.T) {
	t.Parallel()
	for says, waits := range map[string]bool{"": true, "yes": true, "no": false} {
		d := &model.Deployment{Status: model.DeploymentStatus_DEPLOYMENT_RUNNING, Stages: []*model.PipelineStage{{
			Id: "s", Name: "APPLY", Status: model.StageStatus_STAGE_RUNNING,
			AvailableOperation: model.ManualOperation_MANUAL_OPERATION_APPROVE,
			Metadata:           map[string]string{"pipedeck/waiting": says},
		}}}
		stage := deployment(&store.Deployment{Model: d}).GetStages()[0]
		require.Equal(t, waits, stage.GetCanApprove(), says)
	}
}

func TestAStageWithSeveralAttemptsHasTheStartOfItsFirst(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	first := &deckv1.StageAttempt{Number: 1, StartedAt: timestamppb.New(at)}
	second := &deckv1.StageAttempt{Number: 2, StartedAt: timestamppb.New(at.Add(time.Minute))}
	of := func(attempts ...*deckv1.StageAttempt) *deckv1.Stage {
		return deployment(&store.Deployment{
			Model: &model.Deployment{Stages: []*model.PipelineStage{{Id: "s", Name: "WAIT_APPROVAL"}}},
			Runs:  map[string]*deckv1.GetStageRunResponse{"s": {Attempts: attempts}},
		}).GetStages()[0]
	}
	require.Nil(t, of(first).GetFirstStartedAt())
	require.Equal(t, at, of(first, second).GetFirstStartedAt().AsTime().Local())
}
