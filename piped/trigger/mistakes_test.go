// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

const (
	invalid   = model.ApplicationSyncStatus_INVALID_CONFIG
	outOfSync = model.ApplicationSyncStatus_OUT_OF_SYNC
)

// report sets the sync state of an application, as another part of piped would.
func (w *world) report(dir string, status model.ApplicationSyncStatus, short string) {
	w.plane.read(func() {
		w.plane.states[appID(dir)] = append(
			w.plane.states[appID(dir)],
			&model.ApplicationSyncState{Status: status, ShortReason: short, Timestamp: 1, HeadDeploymentId: "d"},
		)
	})
	w.trigger.ApplicationsChanged()
}

func TestABrokenConfigurationIsShownAndNotDeployed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)

	w.application("web", "  name: web\n  timeout: soon\n  planner:\n    autoRollback: 1\n")
	w.commit("Break it")
	state := w.state("web", invalid)
	require.Contains(t, state.GetShortReason(), "web/app.pipecd.yaml:5:12: spec.timeout")
	require.NotContains(t, state.GetShortReason(), "\n")
	w.awaitMistakes("web is invalid: web/app.pipecd.yaml:5:12: spec.timeout")
	require.Contains(t, state.GetReason(), "web/app.pipecd.yaml:7:19: spec.planner.autoRollback", "all mistakes")
	w.write("web/x", "x")
	w.commit("Change it while broken")
	require.Equal(t, 1, w.settle())

	w.application("web", "  name: web\n  timeout: 5m\n")
	head := w.commit("Fix it")
	require.Equal(t, head, w.awaitDeployment(2).GetTrigger().GetCommit().GetHash())
	w.awaitMistakes()
	w.plane.read(func() { require.Len(t, w.plane.states[appID("web")], 1, "the deployment reports the state") })
}

func TestAKeyThatNothingReadsIsDeployedAndReportedUntilItIsFixed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)

	w.application("web", "  name: web\n  pipelin:\n    stages: [{name: WAIT_APPROVAL}]\n")
	w.commit("Ask before it is deployed")
	w.awaitDeployment(2) // as PipeCD does
	w.awaitMistakes(`web: web/app.pipecd.yaml:5:3: spec.pipelin: unknown key "pipelin" is not read; ` +
		`did you mean "pipeline"?`)
	w.plane.read(func() { require.Empty(t, w.plane.states[appID("web")], "no state that PipeCD does not report") })

	w.application("web", "  name: web\n  timeout: 5m\n")
	w.commit("Fix it")
	w.awaitDeployment(3)
	w.awaitMistakes()
}

func TestABrokenConfigurationIsReportedOnceForEachChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)
	w.application("web", "  name: web\n  timeout: soon\n")
	w.commit("Break it")
	w.state("web", invalid)
	w.write("web/x", "x")
	w.commit("Change something else")
	w.report("web", outOfSync, "drifted") // which does not stand, because the configuration is still broken
	require.Equal(t, 1, w.settle())
	reported := func(want ...string) {
		t.Helper()
		w.mu.Lock()
		defer w.mu.Unlock()
		require.Len(t, w.broken, len(want))
		for i, begins := range want {
			require.Contains(t, w.broken[i], begins)
		}
	}
	reported("web Break it: web/app.pipecd.yaml:5:12: spec.timeout")

	w.stop()
	w.start() // another piped knows what was reported
	require.Equal(t, 1, w.settle())
	reported("web Break it")

	w.application("web", "  name: web\n  timeout: later\n")
	w.commit("Break it in another way")
	w.plane.await(t, "the new mistake to be reported", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.broken) == 2
	})
	require.Equal(t, 1, w.settle())
	reported("web Break it", "web Break it in another way")
}

func TestAConfigurationThatIsTakenBackGetsItsStateBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)
	w.report("web", outOfSync, "drifted")
	w.end("web", true)
	require.Equal(t, 1, w.settle())

	w.application("web", "  name: [\n")
	w.commit("Break it")
	w.state("web", invalid)
	w.git("revert", "--no-edit", "HEAD")
	require.Equal(t, "drifted", w.state("web", outOfSync).GetShortReason())
	require.Equal(t, 1, w.settle(), "nothing has changed since the last deployment")
}

func TestAnotherStateDoesNotHideABrokenConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)
	w.application("web", "  nme: web\n  timeout: soon\n")
	w.commit("Break it during the deployment")
	w.state("web", invalid)
	// The deployment before ends well; no one reports that.
	w.plane.read(func() {
		w.plane.states[appID("web")] = append(
			w.plane.states[appID("web")],
			&model.ApplicationSyncState{Status: model.ApplicationSyncStatus_SYNCED, Timestamp: 1},
		)
	})
	w.clock.advance(t, time.Minute)
	w.state("web", invalid)
}

func TestTheEndOfADeploymentDoesNotHideABrokenConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.application("shop", "  name: shop\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(2)
	w.application("web", "  name: web\n  timeout: soon\n")
	w.commit("Break it")
	w.state("web", invalid)
	// Another attempt at the deployment before fails.
	w.plane.read(func() {
		w.plane.states[appID("web")] = append(w.plane.states[appID("web")],
			&model.ApplicationSyncState{Status: outOfSync, Timestamp: 1, HeadDeploymentId: "d"})
	})
	w.trigger.DeploymentEnded(appID("shop"))
	w.trigger.DeploymentEnded("gone")
	w.trigger.DeploymentEnded(appID("web"))
	require.Contains(t, w.state("web", invalid).GetShortReason(), "spec.timeout")
	w.plane.read(func() { require.Empty(t, w.plane.states[appID("shop")], "nothing is wrong with it") })
}

func TestARestartedPipedEndsTheStateThatItLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)
	w.application("web", "  name: [\n")
	w.commit("Break it")
	w.state("web", invalid)
	w.stop()
	w.git("revert", "--no-edit", "HEAD")
	w.end("web", false)
	w.start()
	require.Contains(t, w.state("web", outOfSync).GetReason(), "pipedeck sync web", "its deployment did not succeed")
}

// end ends the open deployments of an application. No news of that reaches the trigger, as from an earlier one.
func (w *world) end(dir string, succeeded bool) {
	w.plane.read(func() {
		for _, d := range w.plane.deployments {
			if d.GetApplicationId() == appID(dir) {
				d.CompletedAt = 1
			}
		}
		if succeeded {
			for _, a := range w.plane.applications {
				if a.GetId() == appID(dir) {
					a.MostRecentlySuccessfulDeployment = w.plane.triggered[appID(dir)]
				}
			}
		}
	})
}

func TestAConfigurationThatComesBackDuringADeploymentIsDeploying(t *testing.T) {
	t.Parallel()
	const synced, deploying = model.ApplicationSyncStatus_SYNCED, model.ApplicationSyncStatus_DEPLOYING
	for name, after := range map[string]struct {
		end  func(w *world)
		want model.ApplicationSyncStatus
	}{
		"it waits or runs": {func(*world) {}, deploying},
		"it succeeded":     {func(w *world) { w.end("web", true) }, synced},
		"it failed":        {func(w *world) { w.end("web", false) }, outOfSync},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.application("web", "  name: web\n")
			w.commit("Add")
			w.start()
			d := w.awaitDeployment(1)
			w.report("web", synced, "") // as of the deployment before, whose end is the last that is listed
			require.Equal(t, 1, w.settle())
			w.git("rm", "-q", "-r", "web")
			w.commit("Remove it")
			w.state("web", invalid)
			after.end(w)
			w.git("revert", "--no-edit", "HEAD")
			state := w.state("web", after.want)
			if after.want == deploying {
				require.Equal(t, d.GetId(), state.GetHeadDeploymentId())
				require.Contains(t, state.GetShortReason(), d.GetTrigger().GetCommit().GetHash()[:7])
			}
		})
	}
}

func TestADeploymentThatEndsWhileItIsReportedIsNotDeploying(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)
	w.git("rm", "-q", "-r", "web")
	w.commit("Remove it")
	w.state("web", invalid)
	w.plane.read(func() {
		w.plane.reported = func(state *model.ApplicationSyncState) {
			if state.GetStatus() == model.ApplicationSyncStatus_DEPLOYING {
				for _, d := range w.plane.deployments {
					d.CompletedAt = 1
				}
			}
		}
	})
	w.git("revert", "--no-edit", "HEAD")
	w.state("web", outOfSync)
	w.plane.read(func() {
		states := w.plane.states[appID("web")]
		require.Equal(t, model.ApplicationSyncStatus_DEPLOYING, states[len(states)-2].GetStatus())
	})
}

func TestABrokenConfigurationOfANewApplicationIsShownToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: the web\n  pipeline: [\n")
	w.commit("Add a broken one")
	w.start()
	require.Contains(t, w.state("web", invalid).GetShortReason(), "web/app.pipecd.yaml:5:")
	w.plane.read(func() { require.Equal(t, "the web", w.plane.applications[0].GetName()) })
	require.Equal(t, 0, w.settle())
	w.application("web", "  name: web\n")
	w.commit("Fix it")
	require.Equal(t, "web", w.awaitDeployment(1).GetApplicationName())
}

func TestAConfigurationThatIsRemovedIsMissed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)
	w.git("rm", "-q", "-r", "web")
	w.commit("Remove it")
	require.Contains(t, w.state("web", invalid).GetShortReason(),
		"Orphaned: web/app.pipecd.yaml is not in Git any more")
	w.awaitMistakes("web is invalid: web/app.pipecd.yaml is not in Git any more, at commit ")
	require.Equal(t, 1, w.settle())
}

func TestDriftIsDeployedAfterTheWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n  trigger:\n    onOutOfSync:\n      disabled: false\n      minWindow: 10m\n")
	w.application("shop", "  name: shop\n")
	w.commit("Add")
	w.start()
	first := w.awaitDeployment(1)
	w.awaitDeployment(2)
	if first.GetApplicationName() != "web" {
		w.plane.read(func() { first = w.plane.deployments[w.plane.order[1]] })
	}
	w.report("web", outOfSync, "drifted")
	w.report("shop", outOfSync, "drifted")
	require.Equal(t, 2, w.settle(), "not while a deployment is under way")

	w.plane.read(func() { w.plane.deployments[first.GetId()].CompletedAt = w.clock.Now().Unix() })
	w.trigger.ApplicationsChanged()
	require.Equal(t, 2, w.settle(), "not within the window")
	for range 9 {
		w.clock.advance(t, time.Minute)
	}
	require.Equal(t, 2, w.settle(), "not at the end of the window, either")
	w.clock.advance(t, time.Minute)
	d := w.awaitDeployment(3)
	require.Equal(t, "web", d.GetApplicationName(), "shop does not want that")
	require.Equal(t, model.SyncStrategy_QUICK_SYNC, d.GetTrigger().GetSyncStrategy())
	require.NotEmpty(t, d.GetTrigger().GetStrategySummary())
	w.clock.advance(t, time.Minute)
	require.Equal(t, 3, w.settle(), "once")
}

func TestAnApplicationWithoutANameIsReportedUntilItHasOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.selector = map[string]string{"team": "a"}
	w.application("shop", "  name: shop\n  labels: {team: a}\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)

	w.application("web", "  labels: {team: a}\n")
	w.application("other", "  labels: {team: b}\n") // which is another piped's
	w.application("shop", "  labels: {team: a}\n")  // which is registered
	w.commit("Forget the names")
	w.awaitUnregistered("apps: web/app.pipecd.yaml:4:3: spec.name: is missing: an application is registered by its " +
		"name")
	w.plane.read(func() { require.Len(t, w.plane.applications, 1) })

	w.application("web", "  name: web\n  labels: {team: a}\n")
	w.commit("Name it")
	w.awaitUnregistered()
}
