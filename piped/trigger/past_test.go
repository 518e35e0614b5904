// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger_test

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/supersede"
)

// pastCommand asks for the commit of an earlier deployment; key says whether that is retried or rolled back to.
func pastCommand(id, application, key string, of *model.Deployment) *model.Command {
	c := syncCommand(id, application, of.GetTrigger().GetSyncStrategy())
	c.Metadata = map[string]string{"pipedeck/commit": of.GetTrigger().GetCommit().GetHash(), key: of.GetId()}
	return c
}

// notesOf returns the notes of a deployment but the time of its creation.
func notesOf(d *model.Deployment) map[string]string {
	notes := maps.Clone(d.GetMetadataV2().GetShared().GetKeyValues())
	delete(notes, "pipedeck/created")
	return notes
}

// complete ends all deployments so far.
func (w *world) complete() {
	w.plane.read(func() {
		for _, d := range w.plane.deployments {
			d.CompletedAt = 1
		}
	})
}

func TestAFailedCommitIsDeployedAgainByTheSameStrategy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	head := w.commit("Add")
	w.start()
	failed := w.awaitDeployment(1)
	w.plane.read(func() { failed.Trigger.SyncStrategy = model.SyncStrategy_QUICK_SYNC }) // as it was planned
	got := w.send(pastCommand("1", appID("web"), "pipedeck/retry-of", failed))
	require.Equal(t, model.CommandStatus_COMMAND_SUCCEEDED, got.status)
	d := w.awaitDeployment(2)
	require.Equal(t, d.GetId(), got.metadata["TriggeredDeploymentID"])
	require.Equal(t, head, d.GetTrigger().GetCommit().GetHash())
	require.Equal(t, "carol", d.GetTrigger().GetCommander())
	require.Equal(t, model.SyncStrategy_QUICK_SYNC, d.GetTrigger().GetSyncStrategy())
	require.Contains(t, d.GetTrigger().GetStrategySummary(), "Retried by carol")
	require.Equal(t, map[string]string{"pipedeck/retry-of": failed.GetId()}, notesOf(d), "it is the newest commit")
	require.Equal(t, 2, w.settle())
}

func TestARollbackStaysUntilTheNextCommitAlsoOverARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	old := w.commit("One")
	w.start()
	first := w.awaitDeployment(1)
	w.write("web/x", "2")
	newer := w.commit("Two")
	w.awaitDeployment(2)

	w.send(pastCommand("1", appID("web"), "pipedeck/rollback-to", first))
	d := w.awaitDeployment(3)
	require.Equal(t, old, d.GetTrigger().GetCommit().GetHash())
	require.Equal(t, "One", d.GetTrigger().GetCommit().GetMessage())
	require.Contains(t, d.GetTrigger().GetStrategySummary(), "Rolled back by carol to commit "+old[:7])
	require.Equal(t, map[string]string{
		"pipedeck/rollback-to": first.GetId(), "pipedeck/newer-commit": newer,
	}, notesOf(d))
	require.Equal(t, 3, w.settle(), "another commit that does not change the application deploys nothing")
	w.stop()

	w.complete()
	w.start()
	w.write("other", "x")
	w.commit("Elsewhere")
	require.Equal(t, 3, w.settle(), "neither does the next piped")
	w.write("web/x", "3")
	head := w.commit("Three")
	require.Equal(t, head, w.awaitDeployment(4).GetTrigger().GetCommit().GetHash())
}

func TestACommitThatArrivesWithARollbackIsDeployedAfterIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("One")
	w.start()
	first := w.awaitDeployment(1)
	w.write("web/x", "2")
	w.commit("Two")
	w.awaitDeployment(2)
	w.stop()

	w.write("web/x", "3")
	head := w.commit("Three")
	w.plane.read(func() {
		w.plane.commands = append(w.plane.commands, pastCommand("1", appID("web"), "pipedeck/rollback-to", first))
	})
	w.start()
	w.feed()
	w.plane.await(t, "the answer", func() bool { return len(w.plane.handled["1"]) > 0 })
	w.awaitDeployment(4)
	var commits []string
	w.plane.read(func() {
		for _, id := range w.plane.order[2:] {
			commits = append(commits, w.plane.deployments[id].GetTrigger().GetCommit().GetHash())
		}
	})
	require.ElementsMatch(t, []string{first.GetTrigger().GetCommit().GetHash(), head}, commits)
	require.Equal(t, 4, w.settle(), "each of them once")
}

func TestAnApplicationWhoseNewestConfigurationIsBrokenIsRolledBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	old := w.commit("One")
	w.start()
	first := w.awaitDeployment(1)
	w.application("web", "  name: web\n  timeout: soon\n")
	w.commit("Break")
	w.state("web", model.ApplicationSyncStatus_INVALID_CONFIG)
	got := w.send(pastCommand("1", appID("web"), "pipedeck/rollback-to", first))
	require.Equal(t, model.CommandStatus_COMMAND_SUCCEEDED, got.status, got.metadata)
	require.Equal(t, old, w.awaitDeployment(2).GetTrigger().GetCommit().GetHash())
}

func TestARollbackStartsNoDeploymentChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain := "  postSync:\n    chain:\n      applications:\n        - name: other\n"
	w.application("web", "  name: web\n"+chain)
	w.commit("One")
	w.start()
	first := w.awaitDeployment(1)
	require.NotEmpty(t, first.GetDeploymentChainId())
	w.send(pastCommand("1", appID("web"), "pipedeck/rollback-to", first))
	require.Empty(t, w.awaitDeployment(2).GetDeploymentChainId())
	w.send(pastCommand("2", appID("web"), "pipedeck/retry-of", first))
	require.NotEmpty(t, w.awaitDeployment(3).GetDeploymentChainId(), "a retry does all that the first one did")
}

func TestACommitFromBeforeAMoveIsDeployedFromThePlaceOfThen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plane.moves = true
	w.application("web", "  name: web\n  timeout: 7m\n")
	w.write("web/x", "1")
	old := w.commit("One")
	w.start()
	first := w.awaitDeployment(1)
	w.git("mv", "web", "site")
	w.application("site", "  name: web\n")
	newer := w.commit("Move")
	w.awaitDeployment(2)
	got := w.send(pastCommand("1", appID("web"), "pipedeck/rollback-to", first))
	require.Equal(t, model.CommandStatus_COMMAND_SUCCEEDED, got.status, got.metadata)
	d := w.awaitDeployment(3)
	require.Equal(t, old, d.GetTrigger().GetCommit().GetHash())
	require.Equal(t, newer, notesOf(d)["pipedeck/newer-commit"])
	require.Equal(t, 3, w.settle())
}

func TestACommitThatCannotBeDeployedAgainIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("readme", "x")
	before := w.commit("Nothing yet")
	w.application("web", "  name: web\n  timeout: soon\n")
	broken := w.commit("Broken")
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)
	for name, test := range map[string]struct{ commit, reason string }{
		"a commit that is gone": {"0123456789012345678901234567890123456789", "no such commit"},
		"before the application": {before, "commit " + before[:7] + " of application web cannot be deployed: the " +
			"application was not in Git then: neither is there web/app.pipecd.yaml, nor one other configuration with " +
			"its name: file does not exist; choose a commit that has it: pipedeck history web"},
		"an invalid configuration": {broken, "web/app.pipecd.yaml:5:12"},
	} {
		of := &model.Deployment{
			Id: "d", Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: test.commit}},
		}
		got := w.send(pastCommand(name, appID("web"), "pipedeck/rollback-to", of))
		require.Equal(t, model.CommandStatus_COMMAND_FAILED, got.status, name)
		require.Contains(t, got.metadata["Reason"], "cannot be deployed", name)
		require.Contains(t, got.metadata["Reason"], test.reason, name)
	}
	require.Equal(t, 1, w.settle())
}

// namedCommand asks for a commit that a user has named.
func namedCommand(id, application, commit string) *model.Command {
	c := syncCommand(id, application, model.SyncStrategy_AUTO)
	c.Metadata = map[string]string{"pipedeck/commit": commit}
	return c
}

func TestACommitOfTheBranchThatAUserNamesIsDeployedAndOthersAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain := "  postSync:\n    chain:\n      applications:\n        - name: other\n"
	w.application("web", "  name: web\n"+chain)
	old := w.commit("One")
	w.write("web/x", "2")
	newer := w.commit("Two")
	w.git("checkout", "-q", "-b", "feature")
	w.write("web/x", "3")
	elsewhere := w.commit("Elsewhere")
	w.git("checkout", "-q", "main")
	w.start()
	w.awaitDeployment(1)

	got := w.send(namedCommand("1", appID("web"), old[:10]))
	require.Equal(t, model.CommandStatus_COMMAND_SUCCEEDED, got.status, got.metadata)
	d := w.awaitDeployment(2)
	require.Equal(t, old, d.GetTrigger().GetCommit().GetHash())
	require.Equal(t, map[string]string{"pipedeck/newer-commit": newer}, notesOf(d))
	require.Empty(t, d.GetDeploymentChainId(), "its chain would deploy the newest commits of other applications")
	require.Contains(t, d.GetTrigger().GetStrategySummary(), "Synced by carol to commit "+old[:7])

	got = w.send(namedCommand("2", appID("web"), newer))
	require.Equal(t, model.CommandStatus_COMMAND_SUCCEEDED, got.status, got.metadata)
	d = w.awaitDeployment(3)
	require.Equal(t, newer, d.GetTrigger().GetCommit().GetHash())
	require.Empty(t, notesOf(d), "it is the newest commit")
	require.NotEmpty(t, d.GetDeploymentChainId())

	got = w.send(namedCommand("3", appID("web"), elsewhere))
	require.Equal(t, model.CommandStatus_COMMAND_FAILED, got.status)
	require.Contains(t, got.metadata["Reason"], "is not in the history of branch main")
	require.Equal(t, 3, w.settle(), "the newest commit is not deployed again by itself")
}

func TestADeploymentOfACommitNotesWhichOlderOnesItSupersedes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for dir, rule := range map[string]string{
		"plain": "", "queue": "queue", "waiting": "supersede-waiting", "all": "supersede",
	} {
		spec := "  name: " + dir + "\n"
		if rule != "" {
			spec += "  trigger:\n    onNewCommit: " + rule + "\n"
		}
		w.application(dir, spec)
	}
	w.commit("One")
	w.start()
	w.awaitDeployment(4)
	got := map[string]map[string]string{}
	w.plane.read(func() {
		for _, d := range w.plane.deployments {
			got[d.GetApplicationName()] = notesOf(d)
		}
	})
	require.Equal(t, map[string]map[string]string{
		"plain": {}, "queue": {}, "waiting": {"pipedeck/supersedes": "waiting"},
		"all": {"pipedeck/supersedes": "running"},
	}, got)
	w.send(syncCommand("1", appID("all"), model.SyncStrategy_AUTO))
	require.Empty(t, notesOf(w.awaitDeployment(5)), "only commits supersede")
}

func TestANewerDeploymentIsLaterAlsoWhenTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("One")
	w.start()
	first := w.awaitDeployment(1)
	w.clock.mu.Lock()
	w.clock.now = w.clock.now.Add(-time.Hour)
	w.clock.mu.Unlock()
	w.write("web/x", "2")
	w.commit("Two")
	second := w.awaitDeployment(2)
	require.Negative(t, supersede.Compare(first, second))
	require.GreaterOrEqual(t, second.GetTrigger().GetTimestamp(), first.GetTrigger().GetTimestamp())
}
