// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestABuildIsShownWithItsTimeAndVersion(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	build := &deckv1.PluginBuild{Hash: "4c1f0e9a2b7d", BuiltAt: timestamppb.New(now.Add(-time.Minute)), Version: "v1"}
	require.Equal(t, "4c1f0e9a2b7d of 11:59:00 v1", buildWords(build, now))
	require.Equal(t, "4c1f0e9a2b7d of 2026-03-02 11:59:00 v1", buildWords(build, now.AddDate(0, 0, 1)))
	require.Equal(t, "4c1f0e9a2b7d", buildWords(&deckv1.PluginBuild{Hash: "4c1f0e9a2b7d"}, now))
	require.Empty(t, buildWords(nil, now))
}

func TestReloadsAreNoCrashes(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, 3, crashes(&deckv1.Plugin{Restarts: 3}), "of an older piped")
	require.Zero(t, crashes(&deckv1.Plugin{Restarts: 3, Reloads: 3}))
	require.Zero(t, crashes(&deckv1.Plugin{Restarts: 1, AbandonedEnds: 1}))
	require.EqualValues(t, 1, crashes(&deckv1.Plugin{Restarts: 3, Reloads: 2, Crashes: 1}))
}

func TestARunningStageWithoutOutputHasAnAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	stage := &deckv1.Stage{
		Id: "s", Name: "GREET", Status: deckv1.StageStatus_STAGE_STATUS_RUNNING,
		SilentSince: timestamppb.New(now.Add(-45 * time.Second)),
	}
	d := &deckv1.Deployment{Id: "d", Stages: []*deckv1.Stage{stage}}
	require.Equal(t, "no output for 45s", silence(stage, now))
	require.Equal(t, "no output for 45s", stagesOf(d, Keys{}, now)[0].Note)
	stage.Progress = &deckv1.StageProgress{Done: 1, Total: 3}
	require.Equal(t, "no output for 45s, 1 of 3", stagesOf(d, Keys{}, now)[0].Note)
	stage.Status = deckv1.StageStatus_STAGE_STATUS_SUCCESS
	require.Empty(t, silence(stage, now))

	v := Deployment{Now: now, Deployment: &deckv1.Deployment{
		Status:           deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING,
		PlanningWaitsFor: "greeter", PlanningSince: timestamppb.New(now.Add(-12 * time.Second)),
	}}
	require.Contains(t, strings.Join(v.withoutStages(80), "\n"), "Planning waits for plugin greeter, 12s")
}
