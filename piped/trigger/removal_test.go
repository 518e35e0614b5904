// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/trigger"
)

// removeCommand asks for the removal of an application by the commit that was deployed last.
func removeCommand(id, application, commit string) *model.Command {
	c := syncCommand(id, application, model.SyncStrategy_AUTO)
	c.Metadata = map[string]string{"pipedeck/commit": commit, "pipedeck/remove": "cascade"}
	return c
}

// removing makes a control plane that removes applications. The names come to forgotten.
func (w *world) removing(byDefault config.Removal) (forgotten chan string) {
	forgotten = make(chan string, 10)
	w.removals = trigger.Removals{
		Default: byDefault, Supported: func() bool { return true },
		Forget: func(_ context.Context, application string) error { forgotten <- application; return nil },
	}
	return forgotten
}

// deployed deploys applications with a configuration: the one of a test, and another one that stays.
func deployed(t *testing.T, w *world, spec string) (commit string) {
	t.Helper()
	w.application("web", "  name: web\n"+spec)
	w.write("web/a.yaml", "a")
	w.application("other", "  name: other\n")
	commit = w.commit("Add")
	w.start()
	w.awaitDeployment(2)
	w.trigger.DeploymentEnded(appID("web"))
	w.trigger.DeploymentEnded(appID("other"))
	return commit
}

func TestAnApplicationThatIsGoneFromGitIsOrphanedUntilItComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "")
	w.end("web", true)
	w.git("rm", "-rq", "web")
	w.commit("Delete")
	state := w.state("web", invalid)
	require.Equal(t, "Orphaned: web/app.pipecd.yaml is not in Git any more", state.GetShortReason())
	require.Contains(t, state.GetReason(), "pipedeck remove web")
	w.git("revert", "--no-edit", "HEAD")
	require.NotContains(t, w.state("web", model.ApplicationSyncStatus_UNKNOWN).GetShortReason(), "Orphaned")
}

func TestARemovalIsADeploymentOfTheCommitThatWasDeployedLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	commit := deployed(t, w, "")
	w.git("rm", "-rq", "web")
	w.commit("Delete")
	w.state("web", invalid)
	got := w.send(removeCommand("1", appID("web"), commit))
	require.Equal(t, model.CommandStatus_COMMAND_SUCCEEDED, got.status, got.metadata)
	d := w.awaitDeployment(3)
	require.Equal(t, d.GetId(), got.metadata["TriggeredDeploymentID"])
	require.Equal(t, commit, d.GetTrigger().GetCommit().GetHash())
	require.Equal(t, map[string]string{"pipedeck/remove": "cascade"}, notesOf(d))
	require.Contains(t, d.GetTrigger().GetStrategySummary(), "Remove the application and what it has deployed")
	require.Contains(t, d.GetTrigger().GetStrategySummary(), "carol")
}

func TestARemovalThatNoPluginCanDoIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.removals.Refuse = func(context.Context, *config.Application) string { return "plugin lambda has no stage for it" }
	commit := deployed(t, w, "")
	w.git("rm", "-rq", "web")
	w.commit("Delete")
	w.state("web", invalid)
	got := w.send(removeCommand("1", appID("web"), commit))
	require.Equal(t, model.CommandStatus_COMMAND_FAILED, got.status)
	require.Contains(t, got.metadata["Reason"], "plugin lambda has no stage for it")
	require.Equal(t, 2, w.settle())
}

func TestTheLastConfigurationSaysWhatBecomesOfAnApplicationThatIsDeleted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		piped          config.Removal
		spec           string
		prunes, forget bool
	}{
		"kept by default":               {},
		"pruned by piped":               {piped: config.RemovalPrune, prunes: true},
		"pruned by its configuration":   {spec: "  onRemoved: prune\n", prunes: true},
		"kept by its configuration":     {piped: config.RemovalPrune, spec: "  onRemoved: keep\n"},
		"forgotten":                     {spec: "  onRemoved: orphan\n", forget: true},
		"forgotten by piped's settings": {piped: config.RemovalOrphan, forget: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			forgotten := w.removing(tt.piped)
			commit := deployed(t, w, tt.spec)
			w.git("rm", "-rq", "web")
			w.commit("Delete")
			w.state("web", invalid)
			switch {
			case tt.prunes:
				d := w.awaitDeployment(3)
				require.Equal(t, commit, d.GetTrigger().GetCommit().GetHash())
				require.Equal(t, map[string]string{"pipedeck/remove": "cascade"}, notesOf(d))
				w.stop()
				w.complete()
				w.start() // and the next piped does not do it again
				w.send(syncCommand("1", "absent", model.SyncStrategy_AUTO))
				w.send(syncCommand("2", "absent", model.SyncStrategy_AUTO)) // the pass of the first has ended
				w.plane.read(func() { require.Len(t, w.plane.order, 3) })
				require.Empty(t, forgotten)
			case tt.forget:
				select {
				case id := <-forgotten:
					require.Equal(t, appID("web"), id)
				case <-time.After(time.Minute):
					require.FailNow(t, "nothing was forgotten")
				}
				require.Equal(t, 2, w.settle())
			default:
				require.Equal(t, 2, w.settle())
				require.Empty(t, forgotten)
			}
		})
	}
}

func TestARemovalWaitsForTheFirstDeploymentOfWhatMayTakeItsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plane.moves = true
	w.removing(config.RemovalPrune)
	deployed(t, w, "")
	w.git("rm", "-rq", "web")
	w.application("site", "  name: site\n")
	w.commit("Rename")
	require.Equal(t, appID("site"), w.awaitDeployment(3).GetApplicationId())
	require.Equal(t, 3, w.settle(), "what site takes over is not deleted")
	w.plane.read(func() {
		for _, a := range w.plane.applications {
			a.MostRecentlySuccessfulDeployment = &model.ApplicationDeploymentReference{DeploymentId: "1"}
		}
	})
	w.trigger.DeploymentEnded(appID("site"))
	d := w.awaitDeployment(4)
	require.Equal(t, appID("web"), d.GetApplicationId())
	require.Equal(t, "cascade", notesOf(d)["pipedeck/remove"])
}

func TestARemovalWaitsUntilANewApplicationIsDeployedWithSuccessAndThenGoesOnByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plane.moves = true
	w.removing(config.RemovalPrune)
	deployed(t, w, "")
	change := func(name string, change func(*model.Application)) {
		t.Helper()
		w.plane.read(func() {
			for _, a := range w.plane.applications {
				if a.GetName() == name {
					change(a)
				}
			}
		})
	}
	w.git("rm", "-rq", "web")
	w.application("site", "  name: site\n")
	w.commit("Rename")
	require.Equal(t, appID("site"), w.awaitDeployment(3).GetApplicationId())
	change("site", func(a *model.Application) { a.Deploying = true })
	w.trigger.ApplicationsChanged()
	require.Equal(t, 3, w.settle())
	change("site", func(a *model.Application) { a.Deploying = false })
	w.trigger.DeploymentEnded(appID("site"))
	require.Equal(t, 3, w.settle(), "it has failed, and the next commit may correct it")
	require.Contains(t, w.state("web", invalid).GetShortReason(), "its removal waits until site is deployed")
	require.Contains(t, w.state("web", invalid).GetReason(), "nothing deploys site now: deploy it with: pipedeck sync "+
		"site; or do not wait for it: pipedeck remove web --cascade")

	w.stop()
	w.complete()
	change("web", func(a *model.Application) {
		a.MostRecentlySuccessfulDeployment = &model.ApplicationDeploymentReference{DeploymentId: "1", StartedAt: 10}
	})
	change("site", func(a *model.Application) { a.CreatedAt = 20 })
	w.start()
	require.Equal(t, 3, w.settle(), "also for the next piped")

	w.write("site/a.yaml", "b")
	w.commit("Correct")
	require.Equal(t, appID("site"), w.awaitDeployment(4).GetApplicationId())
	change("site", func(a *model.Application) {
		a.MostRecentlySuccessfulDeployment = &model.ApplicationDeploymentReference{DeploymentId: "4"}
	})
	w.trigger.DeploymentEnded(appID("site"))
	d := w.awaitDeployment(5)
	require.Equal(t, appID("web"), d.GetApplicationId(), "no other commit is needed")
	require.Equal(t, "cascade", notesOf(d)["pipedeck/remove"])
}

func TestARemovalWaitsForTheDeploymentsOfTheSameCommitAndSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.removing(config.RemovalPrune)
	deployed(t, w, "")
	w.plane.read(func() {
		for _, a := range w.plane.applications {
			a.MostRecentlySuccessfulDeployment = &model.ApplicationDeploymentReference{DeploymentId: "1"}
		}
	})
	w.trigger.ApplicationsChanged()
	w.git("mv", "web/a.yaml", "other/a.yaml")
	w.git("rm", "-rq", "web")
	w.commit("Move a.yaml to another application")
	require.Equal(t, appID("other"), w.awaitDeployment(3).GetApplicationId())
	state := w.state("web", invalid)
	require.Equal(t, "Orphaned: web/app.pipecd.yaml is not in Git any more; its removal waits until other is deployed",
		state.GetShortReason())
	require.Contains(t, state.GetReason(), "its removal waits until other is deployed, since what it has deployed may "+
		"move there: see how it goes: pipedeck history other; if it waits for an approval: pipedeck approve other")
	require.Equal(t, 3, w.settle(), "what other takes over is not deleted")

	w.write("other/b.yaml", "b")
	w.commit("Go on")
	require.Equal(t, appID("other"), w.awaitDeployment(4).GetApplicationId())
	require.Equal(t, 4, w.settle())
	w.trigger.DeploymentEnded(appID("other"))
	require.Equal(t, 4, w.settle(), "the newer deployment of the application goes on")
	w.trigger.DeploymentEnded(appID("other"))
	d := w.awaitDeployment(5)
	require.Equal(t, appID("web"), d.GetApplicationId())
	require.Equal(t, "cascade", notesOf(d)["pipedeck/remove"])
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Len(t, w.broken, 5, "one notification for each commit")
}

func TestNothingIsRemovedWhileAConfigurationCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plane.moves = true
	w.removing(config.RemovalPrune)
	deployed(t, w, "")
	w.git("mv", "web", "moved")
	w.write("moved/app.pipecd.yaml", "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {name: [\n")
	w.commit("Move, with a mistake")
	w.state("web", invalid)
	require.Equal(t, 2, w.settle(), "the application may be what cannot be read")
	require.Len(t, w.mistaken, 1)
	require.Contains(t, w.mistaken[0], "moved/app.pipecd.yaml:3")

	w.application("moved", "  name: web\n")
	w.commit("Correct")
	w.awaitUnregistered()
	require.Equal(t, appID("web"), w.awaitDeployment(3).GetApplicationId(), "it has another directory")
	require.Equal(t, 3, w.settle())
}

func TestNothingIsRemovedWhenARepositoryHasNoApplicationAtAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	forgotten := w.removing(config.RemovalPrune)
	deployed(t, w, "")
	w.write("readme", "x")
	w.git("rm", "-rq", "web", "other")
	w.commit("Another branch, perhaps")
	w.state("web", invalid)
	w.state("other", invalid)
	got := w.send(syncCommand("1", "absent", model.SyncStrategy_AUTO))
	require.Equal(t, model.CommandStatus_COMMAND_FAILED, got.status, "a whole pass is over")
	w.plane.read(func() { require.Len(t, w.plane.order, 2) })
	require.Empty(t, forgotten)
}

func TestARemovalThatHasFailedIsSaidOfTheApplication(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.removing(config.RemovalKeep)
	commit := deployed(t, w, "")
	w.git("rm", "-rq", "web")
	w.commit("Delete")
	w.state("web", invalid)
	w.send(removeCommand("1", appID("web"), commit))
	d := w.awaitDeployment(3)
	require.Equal(t, 3, w.settle())
	require.Equal(t, "Orphaned: web/app.pipecd.yaml is not in Git any more", w.state("web", invalid).GetShortReason())
	w.plane.read(func() {
		failed := w.plane.deployments[d.GetId()]
		failed.Status, failed.StatusReason = model.DeploymentStatus_DEPLOYMENT_FAILURE, "a hook has failed; "+
			"next step: find the reason"
		failed.CompletedAt = 1
	})
	w.trigger.DeploymentEnded(appID("web"))
	require.Equal(t, 3, w.settle())
	state := w.state("web", invalid)
	require.Equal(t, "Orphaned: web/app.pipecd.yaml is not in Git any more; its removal has failed: a hook has failed",
		state.GetShortReason())
	require.Contains(t, state.GetReason(), "; its removal by deployment "+d.GetId()+" has failed: a hook has failed: "+
		"see why: pipedeck logs "+d.GetId()+"; then try again: pipedeck remove web --cascade; or leave what still "+
		"runs: pipedeck remove web --orphan")
}
