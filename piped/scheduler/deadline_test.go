// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
	"github.com/pipedeck/pipedeck/piped/scheduler"
)

// begun is a stage that an earlier piped reported as running: first so long ago, last so long ago.
func begun(first, last time.Duration) *model.PipelineStage {
	now := time.Now()
	s := stage("A", 0, running)
	s.CompletedAt, s.UpdatedAt = now.Add(-first).Unix(), now.Add(-last).Unix()
	return s
}

func TestTheTimeoutOfAStageCountsFromItsFirstStart(t *testing.T) {
	t.Parallel()
	const timedOut = "Stage A failed: the stage timed out after "
	for name, c := range map[string]struct {
		timeout string
		stage   *model.PipelineStage
		reason  string
	}{
		"some of it is left": {
			"1h", begun(59*time.Minute+59*time.Second, time.Minute), timedOut + "1h0m0s",
		},
		"it ran out while no piped was":   {"1h", begun(2*time.Hour, 2*time.Hour), timedOut + "1h0m0s"},
		"that was so at a return already": {"1h", begun(2*time.Hour, time.Minute), timedOut + "1h0m0s"},
		"a record of PipeCD": {
			"1h", with2(begun(2*time.Hour, 0), func(s *model.PipelineStage) { s.UpdatedAt = 1 }), timedOut + "1h0m0s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startAgentAt(
				t, startControlPlane(t), pipeline("timeout: "+c.timeout+", with: {do: block}"),
				func(o *scheduler.Options) { o.LastChance = 50 * time.Millisecond },
			)
			a.Submit(taken(model.SyncStrategy_PIPELINE, c.stage))
			require.Equal(t, c.reason, a.controlPlane.awaitEnd(t, "d").GetStatusReason())
		})
	}
}

func with2(s *model.PipelineStage, change func(*model.PipelineStage)) *model.PipelineStage {
	change(s)
	return s
}

func TestWhatWasDecidedWhileNoPipedWasThereCountsAfterTheTimeIsUp(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("timeout: 1h, with: {log: approved meanwhile}"))
	a.Submit(taken(model.SyncStrategy_PIPELINE, begun(2*time.Hour, 2*time.Hour)))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
}

func TestTheFirstStartOfAStageOutlastsItsRestarts(t *testing.T) {
	t.Parallel()
	cp := startControlPlane(t)
	first := begun(10*time.Minute, 5*time.Minute)
	began := first.GetCompletedAt()
	gate := failpointtest.NewGate(t)
	a := startAgentAt(t, cp, pipeline("timeout: 1h, "+hold(gate)))
	a.Submit(taken(model.SyncStrategy_PIPELINE, first))
	gate.Await(t)
	require.Equal(t, began, cp.report("A").GetCompletedAt(), "the report of the second attempt names the first start")
	require.NoError(t, a.host.Restart("p"))
	cp.awaitCall(t, "Stage A RUNNING 2")
	require.Equal(t, began, cp.report("A").GetCompletedAt(), "and that of the third")
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d")})
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, cp.awaitEnd(t, "d").GetStatus())
	require.Greater(t, cp.report("A").GetCompletedAt(), began+500, "the end is the end")
}

func TestAPluginThatDiesDoesNotStopTheClockOfItsStage(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	a := startAgent(t, pipeline("timeout: 1h, "+hold(gate)))
	a.Submit(taken(model.SyncStrategy_PIPELINE, begun(time.Hour-10*time.Second, time.Minute)))
	gate.Await(t)
	require.NoError(t, a.host.Restart("p"))
	require.Equal(
		t, "Stage A failed: the stage timed out after 1h0m0s", a.controlPlane.awaitEnd(t, "d").GetStatusReason(),
	)
}
