// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// plannedStage is a screen on which a stage waits for an approval of what its plan destroys.
func plannedStage(t *testing.T, environ ...string) *model {
	t.Helper()
	planned, err := os.ReadFile("testdata/planned.json")
	require.NoError(t, err)
	m := still(t, environ...)
	m.size(120, 40)
	m.see(decktest.Running()...)
	d := decktest.Canary()
	d.Stages = []*deckv1.Stage{
		{Id: "p1", Name: "TERRAFORM_PLAN", Status: deckv1.StageStatus_STAGE_STATUS_SUCCESS,
			StartedAt: decktest.At(-40), CompletedAt: decktest.At(-35),
			Display: "1 to destroy, 1 to replace, 1 to change"},
		{Id: "p2", Name: "TERRAFORM_APPLY", Status: deckv1.StageStatus_STAGE_STATUS_RUNNING, Requires: []string{"p1"},
			Index: 1, StartedAt: decktest.At(-34), CanApprove: true, Display: "Approval: destroys 2 resources",
			ApprovalSubject: "destroys aws_db_instance.old, aws_instance.web"},
	}
	m.receive(d)
	m.chosen.pinStage("p2")
	m.key("i")
	m.Update(stageRunMsg{asked: d.GetStages()[1], run: &deckv1.GetStageRunResponse{Metadata: map[string]string{
		"pipedeck/planned-changes": string(planned)}}})
	return m
}

func TestAnApprovalShowsWhatItDestroysNextToTheKeyAndThePlanAsATable(t *testing.T) {
	t.Parallel()
	m := plannedStage(t)
	m.shows(t, "planned-120x40")
	m.size(80, 24)
	m.shows(t, "planned-80x24")
	m.key("esc")
	m.size(120, 40)
	m.shows(t, "planned-waiting-120x40")
	require.Contains(t, m.View().Content, "press a to approve: destroys aws_db_instance.old")
}

func TestThePlanOfAStageInASCIIWithoutColour(t *testing.T) {
	t.Parallel()
	plannedStage(t, "PIPEDECK_ASCII=1", "NO_COLOR=1").shows(t, "planned-ascii-120x40")
}
