// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// history is a planned deployment of two stages, with the order of the reports that a change makes of it.
func history(t *testing.T, deployment string, change func([]call) []call) []spoken {
	t.Helper()
	report := func(stage string, status model.StageStatus) call {
		return call{link: controlPlaneLink, method: "ReportStageStatusChanged",
			request: &pipedservice.ReportStageStatusChangedRequest{
				DeploymentId: deployment, StageId: stage + "-" + deployment, Status: status,
				CompletedAt: int64(len(deployment)),
			}}
	}
	calls := []call{
		{link: controlPlaneLink, method: "CreateDeployment",
			request: &pipedservice.CreateDeploymentRequest{Deployment: &model.Deployment{Id: deployment}}},
		{link: controlPlaneLink, method: "ReportDeploymentPlanned",
			request: &pipedservice.ReportDeploymentPlannedRequest{
				DeploymentId: deployment, Summary: "in words of " + deployment,
				Stages: []*model.PipelineStage{{Id: "a-" + deployment, Name: "A"},
					{Id: "b-" + deployment, Name: "B", Index: 1, Requires: []string{"a-" + deployment}}},
			}},
		report("a", model.StageStatus_STAGE_RUNNING), report("a", model.StageStatus_STAGE_SUCCESS),
		report("b", model.StageStatus_STAGE_RUNNING), report("b", model.StageStatus_STAGE_SUCCESS),
	}
	if change != nil {
		calls = change(calls)
	}
	n := &names{}
	n.learn(calls, nil)
	return n.write(t, calls)
}

func TestTheComparisonSeesWhatDiffers(t *testing.T) {
	t.Parallel()
	recorded := history(t, "first", nil)
	require.Empty(t, compare(recorded, history(t, "another", nil)), "ids, times and texts are free")

	for name, c := range map[string]struct {
		change func([]call) []call
		want   []difference
	}{
		"a call is missing": {
			func(calls []call) []call { return append(calls[:3], calls[4:]...) },
			[]difference{{call: "ReportStageStatusChanged A 0 of plan 1 STAGE_SUCCESS", recorded: "a call",
				ours: nothing}},
		},
		"the order is another": {
			func(calls []call) []call { calls[3], calls[4] = calls[4], calls[3]; return calls },
			[]difference{
				{call: "ReportStageStatusChanged A 0 of plan 1 STAGE_SUCCESS", recorded: "a call", ours: nothing},
				{call: "ReportStageStatusChanged A 0 of plan 1 STAGE_SUCCESS", recorded: nothing, ours: "a call"},
			},
		},
		"a stage requires nothing": {
			func(calls []call) []call {
				calls[1].request.(*pipedservice.ReportDeploymentPlannedRequest).Stages[1].Requires = nil
				return calls
			},
			[]difference{{call: "ReportDeploymentPlanned", field: "stages[1].requires[0]", recorded: "A 0 of plan 1",
				ours: nothing}},
		},
		"a time is left out": {
			func(calls []call) []call {
				calls[2].request.(*pipedservice.ReportStageStatusChangedRequest).CompletedAt = 0
				return calls
			},
			[]difference{{call: "ReportStageStatusChanged A 0 of plan 1 STAGE_RUNNING", field: "completed_at",
				recorded: "a time", ours: nothing}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ElementsMatch(t, c.want, compare(recorded, history(t, "another", c.change)))
		})
	}
}

func TestOnlyWhatIsListedMayDiffer(t *testing.T) {
	t.Parallel()
	d := difference{call: "wait ExecuteStage WAIT 0 of plan 1", field: "input.stage.status", recorded: nothing,
		ours: "STAGE_RUNNING"}
	require.True(t, expectation{Call: "* ExecuteStage *", Field: "input.*stage*.status", Recorded: nothing,
		Ours: "STAGE_*"}.covers(d))
	for _, e := range []expectation{
		{Call: "* ExecuteStage", Field: "*", Recorded: "*", Ours: "*"},
		{Call: "*", Field: "input.stage", Recorded: "*", Ours: "*"},
		{Call: "*", Field: "*", Recorded: "STAGE_*", Ours: "*"},
		{Call: "*", Field: "*", Recorded: "*", Ours: ""},
	} {
		require.False(t, e.covers(d), "%v", e)
	}
}
