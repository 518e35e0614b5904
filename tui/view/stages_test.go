// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestAStageIsCalledByTheIdOfItsAuthorElseByTypeAndDescription(t *testing.T) {
	t.Parallel()
	d := &deckv1.Deployment{Stages: []*deckv1.Stage{
		{Id: "1", Index: 0, Name: "SCRIPT_RUN", ConfigId: "unit", Desc: "run the unit tests"},
		{Id: "2", Index: 1, Name: "SCRIPT_RUN", Desc: "run the linter"},
		{Id: "4", Index: 3, Name: "SCRIPT_RUN"},
		{Id: "3", Index: 2, Name: "SCRIPT_RUN"},
		{Id: "5", Index: 4, Name: "WAIT"},
	}}
	for i, want := range []string{"unit", "SCRIPT_RUN: run the linter", "SCRIPT_RUN #2", "SCRIPT_RUN #1", "WAIT"} {
		require.Equal(t, want, StageName(d, d.GetStages()[i]))
	}
}

func TestApprovalsSoFarStandNextToTheStageThatWaits(t *testing.T) {
	t.Parallel()
	stage := &deckv1.Stage{Id: "1", Status: deckv1.StageStatus_STAGE_STATUS_RUNNING, CanApprove: true}
	require.Equal(t, "press a to approve", stageNote(stage))
	stage.Approvers = []string{"bob", "carol"}
	require.Equal(t, "press a as bob or carol", stageNote(stage))
	stage.ApprovalsNeeded = 2
	require.Equal(t, "0 of 2; press a as bob or carol", stageNote(stage))
	stage.ApprovedBy = []string{"alice"}
	require.Equal(t, "1 of 2: alice; press a as bob or carol", stageNote(stage))
}
