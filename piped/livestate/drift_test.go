// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	pluginlivestate "github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/system/chantest"
)

var fields = &pluginlivestate.GetDriftResponse{Resources: []*pluginlivestate.ResourceDrift{{
	ResourceId: "r", Fields: []*pluginlivestate.FieldDrift{{Path: "spec.replicas", GitValue: "1", LiveValue: "2"}},
}}}

func TestTheFieldsOfADriftAreReportedBeforeTheLiveState(t *testing.T) {
	t.Parallel()
	kubernetes, other := &plugin{name: "kubernetes", state: outOfSync, health: healthy, drift: fields},
		&plugin{name: "other", state: synced, health: healthy}
	w := newWorld(t, kubernetes, other)
	w.plane.set(deployed("web", "kubernetes", "other"))
	w.start()
	w.nextLive()
	require.Len(t, w.plane.drift, 1, "it was there before the live state")
	report := chantest.Receive(t, w.plane.drift)
	require.Equal(t, "web", report.GetApplicationId())
	require.True(t, proto.Equal(fields.GetResources()[0], report.GetResources()[0]))
	asked := kubernetes.askedForDrift()[0]
	require.Equal(t, "c1", asked.GetLivestate().GetDeploySource().GetCommitHash())
	require.Equal(t, []string{"local"}, asked.GetLivestate().GetDeployTargets())
	require.Nil(t, asked.GetNewestSource(), "Git has no newer commit")
}

func TestNoFieldsAreAskedForWithoutADrift(t *testing.T) {
	t.Parallel()
	kubernetes := &plugin{name: "kubernetes", state: synced, health: healthy, drift: fields}
	w := newWorld(t, kubernetes)
	w.plane.set(deployed("web", "kubernetes"))
	w.start()
	w.nextSync()
	require.Empty(t, kubernetes.askedForDrift())
	require.Empty(t, w.plane.drift)
}

func TestAfterADeploymentThatFailedTheFieldsAreComparedWithItsCommit(t *testing.T) {
	t.Parallel()
	kubernetes := &plugin{name: "kubernetes", state: synced, health: healthy, drift: fields}
	w := newWorld(t, kubernetes)
	a := deployed("web", "kubernetes")
	a.MostRecentlyTriggeredDeployment = &model.ApplicationDeploymentReference{DeploymentId: "deployment-2",
		Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: "c2"}}}
	w.plane.set(a)
	w.start()
	w.nextLive()
	asked := kubernetes.askedForDrift()[0]
	require.Equal(t, "c1", asked.GetLivestate().GetDeploySource().GetCommitHash())
	require.Equal(t, "c2", asked.GetNewestSource().GetCommitHash())
}

func TestAControlPlaneThatKnowsNoFieldsIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	kubernetes := &plugin{name: "kubernetes", state: outOfSync, health: healthy, drift: fields}
	w := newWorld(t, kubernetes)
	w.plane.driftless = true
	w.plane.set(deployed("web", "kubernetes"))
	w.start()
	w.nextLive()
	chantest.Receive(t, w.drifts)
	require.Eventually(
		t, func() bool { return w.clock.waits(50*time.Second, 65*time.Second) }, time.Minute, time.Millisecond,
	)
	w.clock.move(66 * time.Second)
	w.nextLive()
	require.Len(t, kubernetes.askedForDrift(), 1)
}
