// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/system/clock"
)

func TestOfManyQuarantinedInputsSomeAreNamedAndTheOthersCounted(t *testing.T) {
	t.Parallel()
	s := newSuspicion("p", clock.System{}, newBroadcast())
	s.serves("plugin-1")
	const inputs = maxNamedInputs + 2
	for i := range inputs {
		in, counted := inputOf(deployment.DeploymentService_ExecuteStage_FullMethodName, stageOf(fmt.Sprint(i), "1"))
		require.True(t, counted)
		for range strikeLimit {
			s.count([]input{in}, "plugin-1", "it exited")
		}
	}
	problems := s.problems()
	require.Len(t, problems, maxNamedInputs+1)
	for i, problem := range problems[:maxNamedInputs] {
		require.Equal(t, fmt.Sprintf("plugin p (stage A of the application %d)", i), problem.Part)
	}
	require.Equal(t, "plugin p (other inputs)", problems[maxNamedInputs].Part)
	require.Contains(t, problems[maxNamedInputs].Reason, "2 more")
}

func TestTheEndOfAReplacedProcessDoesNotCount(t *testing.T) {
	t.Parallel()
	s := newSuspicion("p", clock.System{}, newBroadcast())
	in, _ := inputOf(deployment.DeploymentService_ExecuteStage_FullMethodName, stageOf("a", "1"))
	s.serves("plugin-2")
	for _, build := range []string{"plugin-2", "plugin-2", "plugin-1"} {
		require.False(t, s.count([]input{in}, build, "it exited"))
	}
	require.True(t, s.count([]input{in}, "plugin-2", "it exited"))
}

func TestACallThatWaitsForAnotherOneSaysWhy(t *testing.T) {
	t.Parallel()
	s := newSuspicion("p", clock.System{}, newBroadcast())
	s.serves("plugin-1")
	first, _ := inputOf(deployment.DeploymentService_ExecuteStage_FullMethodName, stageOf("a", "1"))
	second, _ := inputOf(deployment.DeploymentService_ExecuteStage_FullMethodName, stageOf("b", "1"))
	s.count([]input{first, second}, "plugin-1", "it was killed")
	leave, err := s.admit(t.Context(), first, func(text string) { t.Error(text) })
	require.NoError(t, err, "it is its turn")
	var why string
	leaveSecond, err := s.admit(t.Context(), second, func(text string) {
		why = text
		leave()
	})
	require.NoError(t, err)
	leaveSecond()
	require.Equal(t, "Waits until stage A of the application a ends, at most 30s: a process of plugin p ended during "+
		"both, and whichever is the cause must not interrupt the other again", why)
}

func stageOf(application, commit string) *deployment.ExecuteStageRequest {
	return &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
		Deployment: &model.Deployment{ApplicationId: application}, Stage: &model.PipelineStage{Name: "A"},
		TargetDeploymentSource: &common.DeploymentSource{CommitHash: commit},
	}}
}

func TestAnInputIsNamedForTheWorkAndTheApplication(t *testing.T) {
	t.Parallel()
	d := &model.Deployment{ApplicationId: "id", ApplicationName: "web"}
	for _, c := range []struct {
		method  string
		request any
		want    string
	}{
		{
			deployment.DeploymentService_ExecuteStage_FullMethodName, &deployment.ExecuteStageRequest{
				Input: &deployment.ExecutePluginInput{Deployment: d, Stage: &model.PipelineStage{Name: "WAIT"}},
			}, "stage WAIT of the application web",
		},
		{
			deployment.DeploymentService_DetermineVersions_FullMethodName,
			&deployment.DetermineVersionsRequest{Input: &deployment.PlanPluginInput{Deployment: d}},
			"planning of the application web",
		},
		{
			deployment.DeploymentService_BuildQuickSyncStages_FullMethodName,
			&deployment.BuildQuickSyncStagesRequest{}, "planning",
		},
		{
			livestate.LivestateService_GetLivestate_FullMethodName,
			&livestate.GetLivestateRequest{ApplicationId: "id", ApplicationName: "web"},
			"live state of the application web",
		},
	} {
		in, counted := inputOf(c.method, c.request)
		require.True(t, counted)
		require.Equal(t, c.want, in.subject.String())
	}
	wait := livestate.LivestateChangeService_AwaitChanges_FullMethodName
	_, counted := inputOf(wait, &livestate.AwaitChangesRequest{})
	require.False(t, counted, "it only waits")
}
