// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

const retryTwice = "  name: web\n  trigger:\n    retry:\n      limit: 2\n      backoff: 1m\n"

// fail ends a deployment with a stage that failed for a cause; empty for a mistake in the application.
func (w *world) fail(d *model.Deployment, cause string) {
	w.t.Helper()
	w.plane.read(func() {
		stage := &model.PipelineStage{Id: "s", Name: "K8S_SYNC", Status: model.StageStatus_STAGE_FAILURE}
		if cause != "" {
			stage.Metadata = map[string]string{"pipedeck/cause": `{"kind":"` + cause + `"}`}
		}
		d.Stages = []*model.PipelineStage{stage}
		d.Status, d.CompletedAt = model.DeploymentStatus_DEPLOYMENT_FAILURE, w.clock.Now().Unix()
		d.Trigger.SyncStrategy = model.SyncStrategy_QUICK_SYNC // as it was planned
	})
	w.trigger.DeploymentEnded(d.GetApplicationId())
}

func TestADeploymentThatFailedForACauseWhichMayPassIsRetriedUpToTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", retryTwice)
	head := w.commit("Add")
	w.start()
	first := w.awaitDeployment(1)
	w.fail(first, "TEMPORARY")
	require.Equal(t, 1, w.settle(), "not before the pause has passed")
	w.clock.advance(t, time.Minute)
	d := w.awaitDeployment(2)
	require.Equal(t, head, d.GetTrigger().GetCommit().GetHash())
	require.Equal(t, model.SyncStrategy_QUICK_SYNC, d.GetTrigger().GetSyncStrategy())
	require.Equal(t, "Retry 1 of 2 of deployment "+first.GetId()[:8], d.GetTrigger().GetStrategySummary())
	require.Equal(t, map[string]string{
		"pipedeck/retry-of": first.GetId(), "pipedeck/retry": "1", "pipedeck/retry-limit": "2",
	}, notesOf(d))
	require.Empty(t, d.GetTrigger().GetCommander())

	w.fail(d, "UNREACHABLE")
	w.stop()
	w.start() // the next piped knows of the retries so far
	w.clock.advance(t, 2*time.Minute)
	d = w.awaitDeployment(3)
	require.Equal(t, "Retry 2 of 2 of deployment "+first.GetId()[:8], d.GetTrigger().GetStrategySummary())
	w.fail(d, "TEMPORARY")
	require.Equal(t, 3, w.settle(), "that was the last one")
}

func TestNothingElseIsRetried(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spec, cause string }{
		"a mistake in a manifest":         {retryTwice, ""},
		"what the environment lacks":      {retryTwice, "NO_CRD"},
		"an application without the rule": {"  name: web\n", "TEMPORARY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.application("web", c.spec)
			w.commit("Add")
			w.start()
			w.fail(w.awaitDeployment(1), c.cause)
			w.plane.read(func() { // so long ago that a retry would be due
				for _, d := range w.plane.deployments {
					d.CompletedAt -= 3600
				}
			})
			require.Equal(t, 1, w.settle())
		})
	}
}

func TestANewerCommitComesBeforeARetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", retryTwice)
	w.commit("Add")
	w.start()
	w.fail(w.awaitDeployment(1), "TEMPORARY")
	w.write("web/x", "fix")
	head := w.commit("Fix")
	require.Equal(t, head, w.awaitDeployment(2).GetTrigger().GetCommit().GetHash())
	w.clock.ring(time.Minute)
	require.Equal(t, 2, w.settle())
}

func TestARetryThatACrashInterruptedIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", retryTwice)
	w.commit("Add")
	w.start()
	first := w.awaitDeployment(1)
	w.fail(first, "TEMPORARY")
	w.clock.advance(t, time.Minute)
	retried := w.awaitDeployment(2)
	w.stop()
	w.plane.read(func() { // as if piped had died before it reported its newest deployment
		w.plane.triggered[appID("web")].DeploymentId = first.GetId()
	})
	w.start()
	require.Equal(t, 2, w.settle())
	require.Equal(t, "1", notesOf(retried)["pipedeck/retry"])
}
