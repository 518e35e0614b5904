// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/state"
)

// deployed is an application that commit "head" has deployed.
func deployed(change func(app *deckv1.Application, d *deckv1.Deployment)) *state.Deck {
	app := &deckv1.Application{Id: "web", Name: "web", Path: "web", DeployTargets: []string{"kubernetes/local"}}
	d := &deckv1.Deployment{Id: "d-1", ApplicationId: "web", Commit: &deckv1.Commit{Hash: "head"},
		Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, CompletedAt: decktest.At(1)}
	change(app, d)
	deck := state.New()
	for _, event := range decktest.Events(app, d) {
		deck.Apply(event)
	}
	return deck
}

// examined is an application whose live state was reported since its deployment.
func examined(app *deckv1.Application, _ *deckv1.Deployment) { app.ExaminedDeploymentId = "d-1" }

func withoutTarget(app *deckv1.Application, _ *deckv1.Deployment) { app.DeployTargets = nil }

func TestARunEndsWhenWhatItHasDeployedWasExaminedAndIsHealthy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(app *deckv1.Application, d *deckv1.Deployment)
		left   string
	}{
		"not examined": {func(app *deckv1.Application, _ *deckv1.Deployment) { app.ExaminedDeploymentId = "d-0" },
			"the live state of web is not known yet"},
		"healthy": {func(app *deckv1.Application, _ *deckv1.Deployment) {
			app.ExaminedDeploymentId, app.Health = "d-1", deckv1.HealthStatus_HEALTH_STATUS_HEALTHY
		}, ""},
		"not known":               {examined, ""},
		"without a deploy target": {withoutTarget, ""},
		"not healthy": {func(app *deckv1.Application, _ *deckv1.Deployment) {
			app.ExaminedDeploymentId, app.Health = "d-1", deckv1.HealthStatus_HEALTH_STATUS_OTHER
			app.HealthReason = "Pod a: it has failed"
		}, "web is UNHEALTHY: Pod a: it has failed"},
		"of an older commit": {func(app *deckv1.Application, d *deckv1.Deployment) {
			app.Health, d.Commit = deckv1.HealthStatus_HEALTH_STATUS_OTHER, &deckv1.Commit{Hash: "base"}
		}, ""},
		"failed": {func(app *deckv1.Application, d *deckv1.Deployment) {
			app.Health, d.Status = deckv1.HealthStatus_HEALTH_STATUS_OTHER,
				deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &liveWait{head: "head", stop: func() {}}
			defer w.reset()
			require.Equal(t, c.left == "", w.over(deployed(c.change)))
			require.Equal(t, c.left, w.text())
			if name == "not healthy" {
				w.tolerant = true
				require.True(t, w.over(deployed(c.change)))
			}
		})
	}
}

func TestARunWaitsForALiveStateForAWhileAndLongerForHealth(t *testing.T) {
	t.Parallel()
	unknown := deployed(func(*deckv1.Application, *deckv1.Deployment) {})
	bad := deployed(func(app *deckv1.Application, _ *deckv1.Deployment) {
		app.Health = deckv1.HealthStatus_HEALTH_STATUS_OTHER
	})
	yes, no := func() bool { return true }, func() bool { return false }
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	w := &liveWait{head: "head", stop: stop}
	defer w.reset()
	require.False(t, w.follows(unknown, no, yes), "it is not deployed")
	require.False(t, w.follows(unknown, yes, yes))
	w.examined()
	require.ErrorIs(t, ctx.Err(), context.Canceled, "no plugin has reported a live state in time")
	require.True(t, w.follows(unknown, no, yes))

	require.False(t, w.follows(bad, no, yes), "it may become healthy")
	w.reset()
	require.False(t, w.follows(bad, no, yes), "the run decides again")

	ctx, stop = context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	w = &liveWait{head: "head", stop: stop}
	defer w.reset()
	require.False(t, w.follows(bad, yes, yes))
	w.examined()
	require.NoError(t, ctx.Err(), "what is not healthy has more time")
}

func TestARunThatHasFailedWaitsForTheHealthOfTheOthersForAWhile(t *testing.T) {
	t.Parallel()
	yes, no := func() bool { return true }, func() bool { return false }
	bad := deployed(func(app *deckv1.Application, _ *deckv1.Deployment) {
		app.Health = deckv1.HealthStatus_HEALTH_STATUS_OTHER
	})
	ctx, stop := context.WithCancel(t.Context())
	w := &liveWait{head: "head", stop: stop}
	defer w.reset()
	require.False(t, w.follows(bad, yes, no), "another application is not healthy yet")
	require.True(t, w.follows(deployed(examined), no, no), "and is now")
	require.NoError(t, ctx.Err())

	require.False(t, w.follows(bad, no, no))
	w.examined()
	require.ErrorIs(t, ctx.Err(), context.Canceled, "a run that fails anyway waits no longer")
	require.True(t, w.follows(bad, no, no))
}

func TestARunOfSeveralApplicationsLooksOnForWhatTheLastDeploymentHasTaken(t *testing.T) {
	t.Parallel()
	d := deployed(examined)
	for _, event := range decktest.Events(
		&deckv1.Application{Id: "db", Name: "db", Path: "db", DeployTargets: []string{"kubernetes/local"},
			ExaminedDeploymentId: "d-2"},
		&deckv1.Deployment{Id: "d-2", ApplicationId: "db", Commit: &deckv1.Commit{Hash: "head"},
			Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, CompletedAt: decktest.At(1)}) {
		d.Apply(event)
	}
	ctx, stop := context.WithCancel(t.Context())
	w := &liveWait{head: "head", stop: stop}
	defer w.reset()
	require.False(t, w.over(d))
	require.Empty(t, w.text())
	w.after()
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	require.True(t, w.over(d))
}
