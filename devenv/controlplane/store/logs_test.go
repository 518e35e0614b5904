// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
		require.NoError(t, s.Deployments.AppendLog(piped,
			store.LogReport{DeploymentID: "d", StageID: stage, Blocks: blocks(i*20, 20, text)}))
	}
	// A checkpoint repeats blocks that are gone; they do not come back.
	require.NoError(t, s.Deployments.AppendLog(piped,
		store.LogReport{DeploymentID: "d", StageID: stage, Checkpoint: true, Completed: true,
			Blocks: blocks(0, 2000, text)}))
	page, err := s.Deployments.ReadLog("d", stage, 0)
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
		require.NoError(t, s.Deployments.AppendLog(piped,
			store.LogReport{DeploymentID: d, StageID: stages[d], Blocks: blocks(0, 20, text)}))
		finish(t, s, d, model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	}
	stages["now"] = run(t, s, "now", "a")
	require.NoError(t, s.Deployments.AppendLog(piped,
		store.LogReport{DeploymentID: "now", StageID: stages["now"], Blocks: blocks(0, 20, text)}))
	for d, want := range map[string]int{"old": 0, "new": 20, "now": 20} {
		page, err := s.Deployments.ReadLog(d, stages[d], 0)
		require.NoError(t, err)
		require.Len(t, page.Blocks, want, d)
		require.Equal(t, want == 0, page.Truncated, d)
	}
	// One that is too long by itself is cut as well.
	require.NoError(t, s.Deployments.AppendLog(piped,
		store.LogReport{DeploymentID: "now", StageID: stages["now"], Blocks: blocks(20, 60, text)}))
	page, err := s.Deployments.ReadLog("now", stages["now"], 0)
	require.NoError(t, err)
	require.Less(t, len(page.Blocks), 50)
}

func TestAttemptsHaveSeparateLogs(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	stage := run(t, s, "d", "a")
	require.NoError(t, s.Deployments.AppendLog(piped,
		store.LogReport{DeploymentID: "d", StageID: stage, Checkpoint: true, Completed: true,
			Blocks: blocks(0, 2, "first")}))
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("d", stage, model.StageStatus_STAGE_RUNNING, 1)))
	page, err := s.Deployments.ReadLog("d", stage, 0)
	require.NoError(t, err)
	require.False(t, page.Completed, "the second attempt goes on")
	require.NoError(t, s.Deployments.AppendLog(piped,
		store.LogReport{DeploymentID: "d", StageID: stage, Attempt: 1, Blocks: blocks(0, 2, "second")}))
	select {
	case <-page.Changed:
	default:
		t.Fatal("the watcher was not notified")
	}
	page, err = s.Deployments.ReadLog("d", stage, page.Next)
	require.NoError(t, err)
	require.Len(t, page.Blocks, 2)
	logs, complete, err := s.Deployments.StageLogs("d")
	require.NoError(t, err)
	require.Equal(t, "0 second", logs[stage][0].GetLog(), "pipectl sees the newest attempt")
	require.False(t, complete[stage])
}

func TestALogOfHundredsOfThousandsOfLinesIsKeptWholeInLittleMemory(t *testing.T) {
	t.Parallel()
	const reports, lines = 40, 10_000
	s, clock := newStore(store.Limits{})
	importApplication(s, "a", nil)
	stage := run(t, s, "d", "a")
	appendLines := func(report int) {
		var list []*model.LogBlock
		var text strings.Builder
		for i := range lines {
			fmt.Fprintf(&text, "line %07d of the log of a stage, as long as they are\n", report*lines+i)
			if (i+1)%100 == 0 {
				list = append(list, &model.LogBlock{Index: int64(report*lines + i), Log: text.String(), CreatedAt: 1,
					Severity: model.LogSeverity_SUCCESS})
				text.Reset()
			}
		}
		require.NoError(t, s.Deployments.AppendLog(piped,
			store.LogReport{DeploymentID: "d", StageID: stage, Blocks: list, Completed: report == reports-1,
				Checkpoint: true}))
	}
	for report := range reports {
		appendLines(report)
		clock.advance(time.Second)
	}
	next, pages := 0, 0
	for position, last := 0, false; !last; pages++ {
		page, err := s.Deployments.ReadLog("d", stage, position)
		require.NoError(t, err)
		require.False(t, page.Truncated)
		for _, b := range page.Blocks {
			require.EqualValues(t, next/lines, b.Received.Unix()-1_795_230_000)
			require.Equal(t, model.LogSeverity_SUCCESS, b.Block.GetSeverity())
			for line := range strings.Lines(b.Block.GetLog()) {
				if want := fmt.Sprintf("line %07d ", next); !strings.HasPrefix(line, want) {
					require.Fail(t, "a line is missing or not in order", "want %q, got %q", want, line)
				}
				next++
			}
		}
		position, last = page.Next, page.Last
		require.Equal(t, last, page.Completed)
	}
	require.Equal(t, reports*lines, next)
	require.Greater(t, pages, 50)
	page, err := s.Deployments.ReadLog("d", stage, 1234) // in the middle of what is compressed
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(page.Blocks[0].Block.GetLog(), "line 0123400 "))

	logs, complete, err := s.Deployments.StageLogs("d")
	require.NoError(t, err)
	require.True(t, complete[stage])
	require.Contains(t, logs[stage][0].GetLog(), "earlier entries are left out")
	size := 0
	for _, b := range logs[stage] {
		size += len(b.GetLog())
	}
	require.Less(t, size, 4<<20, "PipeCD's clients take no larger answer")
	require.Greater(t, size, 2<<20)
}

func TestAWatcherThatIsSlowMissesNoLineAndLearnsOfTheEndLast(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{Watcher: store.Bounds{Items: 20, Bytes: 20_000}})
	importApplication(s, "a", nil)
	one, two := run(t, s, "d", "a"), run(t, s, "e", "a")
	sub, _ := s.Subscribe(true)
	defer sub.Close()
	text := strings.Repeat("x", 1000)
	for i := range int64(500) { // in turn
		require.NoError(t, s.Deployments.AppendLog(piped,
			store.LogReport{DeploymentID: "d", StageID: one, Blocks: blocks(i*2, 2, text)}))
		require.NoError(t, s.Deployments.AppendLog(piped,
			store.LogReport{DeploymentID: "e", StageID: two, Blocks: blocks(i, 1, text)}))
	}
	finish(t, s, "d", model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	require.NoError(t, s.Deployments.AppendLog(piped,
		store.LogReport{DeploymentID: "e", StageID: two, Blocks: blocks(500, 1, text)}))
	changes, err := sub.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, &store.LogChange{DeploymentID: "d", StageID: one, From: 0, To: 1000}, changes[0].Log)
	require.Equal(t, &store.LogChange{DeploymentID: "e", StageID: two, From: 0, To: 500}, changes[1].Log)
	last := len(changes) - 1
	require.Nil(t, changes[last-1].Log, "what happened in between stays in its place")
	require.Equal(t, &store.LogChange{DeploymentID: "e", StageID: two, From: 500, To: 501}, changes[last].Log)
}
