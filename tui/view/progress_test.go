// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestProgressStandsNextToARunningStage(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]*deckv1.StageProgress{
		"3 of 10 pods are ready": {Done: 3, Total: 10, Text: "pods are ready"},
		"50%":                    {Done: 50, Total: 100},
		"12 objects":             {Done: 12, Text: "objects"},
		"loading":                {Text: "load\x07ing"},
	} {
		require.Equal(t, want, progressWords(p))
	}
	running := &deckv1.Stage{Status: deckv1.StageStatus_STAGE_STATUS_RUNNING, Display: "kept",
		Progress: &deckv1.StageProgress{Done: 3, Total: 10}}
	require.Equal(t, "3 of 10", stageNote(running, Keys{}))
	running.Status = deckv1.StageStatus_STAGE_STATUS_SUCCESS
	require.Equal(t, "kept", stageNote(running, Keys{}))
}

func TestTargetsAreSummedUpWithTheBadNewsFirst(t *testing.T) {
	t.Parallel()
	target := func(name string, status deckv1.StageStatus) *deckv1.StageTarget {
		return &deckv1.StageTarget{Name: name, Status: status}
	}
	stage := &deckv1.Stage{Targets: []*deckv1.StageTarget{
		target("east", deckv1.StageStatus_STAGE_STATUS_SUCCESS),
		target("west", deckv1.StageStatus_STAGE_STATUS_FAILURE),
		target("north", deckv1.StageStatus_STAGE_STATUS_CANCELLED),
		target("south", deckv1.StageStatus_STAGE_STATUS_RUNNING),
	}}
	require.Equal(t, "failed at west, 1 not begun, 1 of 4 targets done",
		targetSummary(stage))
	require.Empty(t, targetSummary(&deckv1.Stage{Targets: stage.GetTargets()[:1]}))

	stage.Status, stage.StatusReason = deckv1.StageStatus_STAGE_STATUS_FAILURE, "west: a long reason"
	require.Equal(t, "failed at west, 1 not begun, 1 of 4 targets done, west: a long reason", stageNote(stage, Keys{}))
	stage.Display = "1 of 4 deploy targets, failed: west"
	require.NotEmpty(t, targetSummary(stage), "a failed stage has its reason instead")
	stage.Status = deckv1.StageStatus_STAGE_STATUS_SUCCESS
	require.Empty(t, targetSummary(stage), "it is said already")
	stage.Display = "primary 90%, canary 10%"
	require.Contains(t, targetSummary(stage), "1 of 4 targets done")
}
