// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestTheAttemptsOfAStageAreKeptWithTheirTimesAndEnds(t *testing.T) {
	t.Parallel()
	s, c := newStore(store.Limits{})
	importApplication(s, "a", nil)
	stage := run(t, s, "d", "a")
	known := func() *deckv1.GetStageRunResponse {
		t.Helper()
		d, err := s.Deployments.Get("d")
		require.NoError(t, err)
		return d.Runs[stage]
	}
	require.Nil(t, known(), "it has not started")
	first := c.now()
	require.NoError(t, s.Deployments.ReportStageRun(piped, stageReport("d", stage, model.StageStatus_STAGE_RUNNING, 0),
		&agentv1.StageRun{Config: []byte(`{"replicas":2}`), Timeout: durationpb.New(time.Hour), Plugin: "kubernetes"}))
	before := known()
	require.Equal(t, `{"replicas":2}`, before.GetConfig())
	require.Equal(t, time.Hour, before.GetTimeout().AsDuration())
	require.Equal(t, "kubernetes", before.GetPlugin())
	require.Len(t, before.GetAttempts(), 1)
	require.Equal(t, deckv1.StageStatus_STAGE_STATUS_RUNNING, before.GetAttempts()[0].GetStatus())

	c.advance(time.Second)
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("d", stage, model.StageStatus_STAGE_RUNNING, 1)))
	second := c.now()
	c.advance(time.Second)
	failure := stageReport("d", stage, model.StageStatus_STAGE_FAILURE, 1)
	failure.StatusReason = "the moon is missing"
	require.NoError(t, s.Deployments.ReportStage(piped, failure))
	attempts := known().GetAttempts()
	require.Len(t, attempts, 2)
	require.True(t, first.Equal(attempts[0].GetStartedAt().AsTime()))
	require.True(t, second.Equal(attempts[0].GetEndedAt().AsTime()), "the next attempt ended it")
	require.Equal(t, deckv1.StageStatus_STAGE_STATUS_UNSPECIFIED, attempts[0].GetStatus())
	require.True(t, second.Equal(attempts[1].GetStartedAt().AsTime()))
	require.True(t, c.now().Equal(attempts[1].GetEndedAt().AsTime()))
	require.Equal(t, deckv1.StageStatus_STAGE_STATUS_FAILURE, attempts[1].GetStatus())
	require.Equal(t, "the moon is missing", attempts[1].GetReason())
	require.EqualValues(t, 2, attempts[1].GetNumber())
	require.Equal(t, `{"replicas":2}`, known().GetConfig(), "a report without it changes nothing")
	require.Len(t, before.GetAttempts(), 1, "what a reader has stays as it is")
}

func TestEachApprovalHasTheTimeAtWhichItWasCounted(t *testing.T) {
	t.Parallel()
	s, c := newStore(store.Limits{})
	importApplication(s, "a", nil)
	stage := run(t, s, "d", "a")
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("d", stage, model.StageStatus_STAGE_RUNNING, 0)))
	approve := func(users string) {
		t.Helper()
		require.NoError(t, s.Deployments.MergeStageMetadata(piped, "d", stage, map[string]string{"approvals": users}))
	}
	approve(`{"of":"another plugin"}`)
	c.advance(time.Second)
	first := c.now()
	approve(`["alice"]`)
	c.advance(time.Second)
	approve(`["alice"]`)
	second := c.now()
	approve(`["alice","bob"]`)
	d, err := s.Deployments.Get("d")
	require.NoError(t, err)
	approvals := d.Runs[stage].GetApprovals()
	require.Len(t, approvals, 2)
	require.Equal(t, "alice", approvals[0].GetUser())
	require.True(t, first.Equal(approvals[0].GetAt().AsTime()))
	require.Equal(t, "bob", approvals[1].GetUser())
	require.True(t, second.Equal(approvals[1].GetAt().AsTime()))
}

func TestLongOptionsOfAStageAreLeftOut(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	stage := run(t, s, "d", "a")
	require.NoError(t, s.Deployments.ReportStageRun(piped, stageReport("d", stage, model.StageStatus_STAGE_RUNNING, 0),
		&agentv1.StageRun{Config: []byte(strings.Repeat("x", 5<<10))}))
	d, err := s.Deployments.Get("d")
	require.NoError(t, err)
	require.Empty(t, d.Runs[stage].GetConfig())
	require.Len(t, d.Runs[stage].GetAttempts(), 1)
}
