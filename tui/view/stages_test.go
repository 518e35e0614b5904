// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
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
	keys := Keys{Approve: "a"}
	stage := &deckv1.Stage{Id: "1", Status: deckv1.StageStatus_STAGE_STATUS_RUNNING, CanApprove: true}
	require.Equal(t, "press a to approve", stageNote(stage, keys))
	stage.Approvers = []string{"bob", "carol"}
	require.Equal(t, "press a as bob or carol", stageNote(stage, keys))
	stage.ApprovalsNeeded = 2
	require.Equal(t, "0 of 2; press a as bob or carol", stageNote(stage, keys))
	stage.ApprovedBy = []string{"alice"}
	require.Equal(t, "1 of 2: alice; press a as bob or carol", stageNote(stage, keys))
	require.Equal(t, "1 of 2: alice; waits for approval by bob or carol", stageNote(stage, Keys{}))
	stage.Approvers = nil
	require.Equal(t, "1 of 2: alice; waits for approval", stageNote(stage, Keys{}))
}

func TestTheSelectedStageSaysHowItGoesAtEachTarget(t *testing.T) {
	t.Parallel()
	stage := &deckv1.Stage{
		Id: "1", Name: "DEPLOY", Status: deckv1.StageStatus_STAGE_STATUS_RUNNING, Retries: 1,
		StartedAt: decktest.At(16), Targets: []*deckv1.StageTarget{
			{Name: "east", Status: deckv1.StageStatus_STAGE_STATUS_SUCCESS},
			{Name: "west", Status: deckv1.StageStatus_STAGE_STATUS_FAILURE, Detail: "no route"},
			{Name: "north", Status: deckv1.StageStatus_STAGE_STATUS_NOT_STARTED},
		},
	}
	v := Deployment{Theme: theme.New(theme.Options{NoColor: true}), Now: decktest.Now(), Usual: 38 * time.Second,
		Deployment: &deckv1.Deployment{Stages: []*deckv1.Stage{stage}}}
	lines := v.stageLines(stage, 100)
	require.Len(t, lines, 2)
	require.Contains(t, ansi.Strip(lines[0]), "● DEPLOY  attempt 2, failed at west, 1 of 3 targets done")
	require.Contains(t, lines[0], "26s of about 38s")
	require.Equal(t, "   ✓ east  ✗ west: no route  ○ north", ansi.Strip(lines[1]))
	v.Usual = 200 * time.Millisecond
	require.NotContains(t, v.stageLines(stage, 100)[0], "of about", "a guess of nothing helps no one")
	require.LessOrEqual(t, text.Width(v.stageLines(stage, 20)[1]), 20)
}
