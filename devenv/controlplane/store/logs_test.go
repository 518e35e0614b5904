// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestALongStageLogLosesItsOldestBlocks(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{StageLogBytes: 100_000})
	importApplication(s, "a", nil)
	stage := run(t, s, "d", "a")
	text := strings.Repeat("x", 100)
	for i := range int64(100) {
		require.NoError(t, s.AppendLog(piped, store.LogReport{DeploymentID: "d", StageID: stage, Blocks: blocks(i*20, 20, text)}))
	}
	// A checkpoint repeats blocks that are gone; they do not come back.
	require.NoError(t, s.AppendLog(piped, store.LogReport{DeploymentID: "d", StageID: stage, Checkpoint: true, Completed: true, Blocks: blocks(0, 2000, text)}))
	page, err := s.ReadLog("d", stage, 0)
	require.NoError(t, err)
	require.True(t, page.Truncated)
	require.True(t, page.Completed)
	require.Equal(t, 2000, page.Next, "positions count the lost ones")
	require.Less(t, len(page.Blocks), 400)
	require.Greater(t, len(page.Blocks), 200)
	require.EqualValues(t, 1999, page.Blocks[len(page.Blocks)-1].Block.GetIndex())
}

func TestLogsOfOldDeploymentsGoFirst(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{LogBytes: 50_000})
	importApplication(s, "a", nil)
	text := strings.Repeat("x", 840)
	stages := map[string]string{}
	for _, d := range []string{"old", "new"} {
		stages[d] = run(t, s, d, "a")
		require.NoError(t, s.AppendLog(piped, store.LogReport{DeploymentID: d, StageID: stages[d], Blocks: blocks(0, 20, text)}))
		finish(t, s, d, model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	}
	stages["now"] = run(t, s, "now", "a")
	require.NoError(t, s.AppendLog(piped, store.LogReport{DeploymentID: "now", StageID: stages["now"], Blocks: blocks(0, 20, text)}))
	for d, want := range map[string]int{"old": 0, "new": 20, "now": 20} {
		page, err := s.ReadLog(d, stages[d], 0)
		require.NoError(t, err)
		require.Len(t, page.Blocks, want, d)
		require.Equal(t, want == 0, page.Truncated, d)
	}
	// One that is too long by itself is cut as well.
	require.NoError(t, s.AppendLog(piped, store.LogReport{DeploymentID: "now", StageID: stages["now"], Blocks: blocks(20, 60, text)}))
	page, err := s.ReadLog("now", stages["now"], 0)
	require.NoError(t, err)
	require.Less(t, len(page.Blocks), 50)
}

func TestAttemptsHaveLogsOfTheirOwn(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	stage := run(t, s, "d", "a")
	require.NoError(t, s.AppendLog(piped, store.LogReport{DeploymentID: "d", StageID: stage, Checkpoint: true, Completed: true, Blocks: blocks(0, 2, "first")}))
	require.NoError(t, s.ReportStage(piped, stageReport("d", stage, model.StageStatus_STAGE_RUNNING, 1)))
	page, err := s.ReadLog("d", stage, 0)
	require.NoError(t, err)
	require.False(t, page.Completed, "the second attempt goes on")
	require.NoError(t, s.AppendLog(piped, store.LogReport{DeploymentID: "d", StageID: stage, Attempt: 1, Blocks: blocks(0, 2, "second")}))
	select {
	case <-page.Changed:
	default:
		t.Fatal("the watcher was not told")
	}
	page, err = s.ReadLog("d", stage, page.Next)
	require.NoError(t, err)
	require.Len(t, page.Blocks, 2)
	logs, complete, err := s.StageLogs("d")
	require.NoError(t, err)
	require.Equal(t, "0 second", logs[stage][0].GetLog(), "pipectl sees the newest attempt")
	require.False(t, complete[stage])
}
