// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

func TestTheInspectorStaysOnItsStage(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 120, 40, seams{})
	s.seesText("press a to approve")
	s.types("i")
	s.seesText("Stage WAIT_APPROVAL", "id          s3", "waits for approval", "needs", "feeds",
		"Earlier runs of this stage", "waitapproval", "pipedeck logs hello-world --stage WAIT_APPROVAL")

	server.Publish(decktest.Failed()) // the stage ends, others run and fail
	s.seesText("Stage WAIT_APPROVAL", "Approved by: ada", "ended")
	s.types("\r")
	s.seesText("2 Deployment", "WAIT_APPROVAL")
	s.types("i")
	s.seesText("Stage WAIT_APPROVAL", "Approved by: ada")
	s.types("i")
	s.seesText("2 Deployment")
}

func TestTheInspectorShowsEarlierRunsAndTheProcessOfThePlugin(t *testing.T) {
	t.Parallel()
	m := still(t)
	m.size(120, 40)
	m.see(decktest.Running()...)
	earlier := decktest.Failed()
	earlier.Id, earlier.Commit = "dep-0", &deckv1.Commit{Hash: "3f2a1c9b0a7d"}
	earlier.CreatedAt = decktest.At(-600)
	failed := decktest.Failed()
	primary := failed.GetStages()[3]
	primary.Retries = 1
	primary.Targets = []*deckv1.StageTarget{
		{Name: "eu", Status: deckv1.StageStatus_STAGE_STATUS_SUCCESS},
		{Name: "us", Status: deckv1.StageStatus_STAGE_STATUS_FAILURE, Detail: "1 of 4 pods ready"},
	}
	m.receive(earlier, failed)
	m.chosen.pinStage(primary.GetId())
	m.key("i")
	m.shows(t, "inspector-120x40")

	m.size(80, 24)
	m.View() // knows how many lines fit
	m.key("G")
	m.shows(t, "inspector-80x24")
	m.key("/", "p", "i", "d")
	require.Contains(t, m.View().Content, "pid")
	require.NotContains(t, m.View().Content, "Earlier runs")
}

func TestTheInspectorWithoutAStageSaysHowToChooseOne(t *testing.T) {
	t.Parallel()
	m := still(t)
	m.size(80, 24)
	m.see(decktest.Environment(), decktest.Component(0, "Preflight", "9 checks passed"), decktest.Application())
	m.screen.enterMain()
	m.key("i")
	require.Equal(t, keymap.Inspector, m.screen.focus)
	require.Contains(t, m.View().Content, "No stage is selected")
	m.key("esc")
	require.Equal(t, keymap.Deployment, m.screen.focus)
}

func TestTheInspectorShowsWhatAStageWasExecutedWith(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	d := decktest.Canary()
	d.Stages[2].ConfigId, d.Stages[2].Retries, d.Stages[2].ApprovalsNeeded = "gate", 1, 2
	d.Stages[2].ApprovedBy = []string{"ada"}
	d.Stages[2].Approvals = []*deckv1.StageApproval{{User: "ada", At: decktest.At(20)}}
	server.Publish(d)
	busy := decktest.Plugins()[3]
	busy.Binary, busy.Version, busy.Restarts = "/opt/plugins/waitapproval", "v0.2.0", 1
	busy.RestartedAt = []*timestamppb.Timestamp{decktest.At(14)}
	server.Publish(busy, busy)
	server.Run("s3", &deckv1.GetStageRunResponse{
		Config: `{"approvers":["ada","grace"],"minApproverNum":2}`, Timeout: durationpb.New(time.Hour),
		Metadata: map[string]string{"approvals": `["ada"]`},
		Attempts: []*deckv1.StageAttempt{
			{Number: 1, StartedAt: decktest.At(12), EndedAt: decktest.At(14), Reason: ""},
			{Number: 2, StartedAt: decktest.At(14), Status: deckv1.StageStatus_STAGE_STATUS_RUNNING},
		},
		Calls: calls(),
	})
	s := play(t, dial(t, server), 160, 50, seams{clock: clock{now: decktest.Now, after: time.After}})
	s.seesText("press a to approve")
	s.types("2i")
	s.seesText("id          gate", "timeout     1h00m", "left: it ends at", "approved    by ada at 12:00:20",
		"1 of 2", "#1", "no answer", "12:00:12 to 12:00:14", "#2", "since 12:00:14",
		`"minApproverNum": 2`, "approvals:", "waitapproval v0.2.0",
		"12:00:13  < GetStageMetadata  2ms  22 times", "12:00:15  < PutStageMetadata  2ms", "12:00:16  < InstallTool",
		"NotFound no tool kubectl", "12:00:14  > ExecuteStage  runs", "/opt/plugins/waitapproval", "1, at 12:00:14",
		"██")

	server.Run("s3", &deckv1.GetStageRunResponse{Attempts: []*deckv1.StageAttempt{{Number: 2,
		StartedAt: decktest.At(14), EndedAt: decktest.At(30), Reason: "no answer in the chat",
		Status: deckv1.StageStatus_STAGE_STATUS_FAILURE}}})
	d.Stages[2].StatusReason = "no answer in the chat"
	server.Publish(d)
	s.seesText("#2", "failed", "16s", "12:00:14 to 12:00:30", "answer      no answer in the chat")
	s.losesText("minApproverNum")
	require.Empty(t, server.Calls)
}

// calls are 25 of a stage that runs.
func calls() (all []*deckv1.PluginCall) {
	call := func(at float64, method string, change func(*deckv1.PluginCall)) {
		c := &deckv1.PluginCall{
			StartedAt: decktest.At(at), Method: "/grpc.piped.service.PluginService/" + method, Code: "OK",
			Direction: deckv1.PluginCall_DIRECTION_TO_PIPED, Duration: durationpb.New(2 * time.Millisecond),
		}
		change(c)
		all = append(all, c)
	}
	for range 22 {
		call(13, "GetStageMetadata", func(*deckv1.PluginCall) {})
	}
	call(14, "ExecuteStage", func(c *deckv1.PluginCall) {
		c.Direction, c.Duration, c.Code = deckv1.PluginCall_DIRECTION_TO_PLUGIN, nil, ""
	})
	call(15, "PutStageMetadata", func(*deckv1.PluginCall) {})
	call(16, "InstallTool", func(c *deckv1.PluginCall) {
		c.Code, c.Detail, c.Failed = "NotFound", "no tool kubectl", true
	})
	return all
}

func TestASearchInTheInspectorMayMatchNothing(t *testing.T) {
	t.Parallel()
	m := waiting(t, 120, 40)
	m.key("i", "/", "z", "z", "z")
	require.NotEmpty(t, m.View().Content, "a panic leaves nothing")
	require.NoError(t, m.leaving.err)
}
