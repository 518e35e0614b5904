// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
)

func TestANewApplicationIsRegisteredAndDeployedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("apps/web", `  name: web
  description: The shop
  labels:
    team: shop
  notification:
    mentions:
      - event: "*"
        slackusers: [U1]
`)
	head := w.commit("Add the shop\n\nFor customers.\n\nPipecd-Dev-Trace-Trigger-Commit-Hash: 123abc")
	w.start()
	d := w.awaitDeployment(1)

	require.NoError(t, d.ValidateAll())
	require.Equal(t, "web", d.GetApplicationName())
	require.Equal(t, appID("apps/web"), d.GetApplicationId())
	require.Equal(t, "p", d.GetPipedId())
	require.Equal(t, "dev", d.GetProjectId())
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_PENDING, d.GetStatus())
	require.Equal(t, map[string]string{"team": "shop"}, d.GetLabels())
	require.Equal(t, []string{"local"}, d.GetDeployTargetsByPlugin()["kubernetes"].GetDeployTargets())
	require.JSONEq(
		t, `{"mentions": [{"event": "*", "slackusers": ["U1"]}]}`,
		d.GetMetadataV2().GetShared().GetKeyValues()["DeploymentNotification"],
	)
	require.Equal(t, "123abc", d.GetDeploymentTraceCommitHash())
	commit := d.GetTrigger().GetCommit()
	require.Equal(t, head, commit.GetHash())
	require.Equal(t, "Add the shop", commit.GetMessage())
	require.Equal(t, "Ada", commit.GetAuthor())
	require.Equal(t, "main", commit.GetBranch())
	require.Equal(t, "file://"+w.dir+"/commit/"+head, commit.GetUrl())
	require.Equal(t, model.SyncStrategy_AUTO, d.GetTrigger().GetSyncStrategy())
	require.Empty(t, d.GetTrigger().GetCommander())

	require.Equal(t, 1, w.settle())
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Len(t, w.submitted, 1, "the scheduler gets it without asking the control plane")
	require.Equal(t, d.GetId(), w.submitted[0].GetId())
	w.plane.read(func() {
		require.Equal(t, d.GetId(), w.plane.triggered[appID("apps/web")].GetDeploymentId())
		require.Empty(t, w.plane.reports[len(w.plane.reports)-1], "in the end none is unregistered")
	})
}

func TestACommitIsDeployedWhereItMatters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n  trigger:\n    onCommit:\n      ignores: ['**/*.md']\n")
	w.application("shop", "  name: shop\n")
	w.commit("Add two")
	w.start()
	w.awaitDeployment(2)

	w.write("web/README.md", "x")
	w.write("docs/x", "x")
	w.commit("Change the docs")
	require.Equal(t, 2, w.settle(), "an ignored file")

	w.write("web/README.md", "y")
	w.write("web/deploy.yaml", "y")
	head := w.commit("Change docs and manifest")
	d := w.awaitDeployment(3)
	require.Equal(t, "web", d.GetApplicationName(), "the ignored file does not hold back the other")
	require.Equal(t, head, d.GetTrigger().GetCommit().GetHash())

	w.git("commit", "-q", "--amend", "-m", "The same files by another commit")
	require.Equal(t, 3, w.settle(), "what is deployed already")

	w.git("reset", "-q", "--hard", "HEAD~2")
	w.git("reflog", "expire", "--expire=now", "--all")
	w.git("gc", "-q", "--prune=now")
	w.write("shop/x", "x")
	w.commit("Change the shop after a force push")
	w.awaitDeployment(5)
	require.Equal(t, 5, w.settle(), "web was taken back, shop was changed")
}

func TestFromCommitToDeploymentTakesLittleTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 20 {
		w.application(fmt.Sprintf("apps/a%d", i), fmt.Sprintf("  name: a%d\n", i))
	}
	for i := range 1000 {
		w.write(fmt.Sprintf("files/%d/%d", i/50, i), "x")
	}
	w.commit("Add many")
	w.start()
	w.awaitDeployment(20)
	var took []time.Duration
	for i := range 15 {
		w.write("apps/a3/x", fmt.Sprint(i))
		w.commit("Change")
		w.awaitDeployment(21 + i)
		branch, err := os.Stat(filepath.Join(w.dir, ".git/refs/heads/main"))
		require.NoError(t, err)
		w.plane.read(func() { took = append(took, w.plane.createdAt[20+i].Sub(branch.ModTime())) })
	}
	slices.SortFunc(took, cmp.Compare[time.Duration])
	t.Logf(
		"from the move of the branch to CreateDeployment: median %v, longest %v", took[len(took)/2], took[len(took)-1],
	)
	require.Less(t, took[len(took)/2], time.Second, "a loaded machine may take its time, but nothing waits for a clock")
}

func TestOneCommitIsDeployedOnceAcrossRestarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)
	w.stop()

	w.start()
	require.Equal(t, 1, w.settle(), "the control plane remembers")
	w.stop()

	// As if piped was killed between creating the deployment and reporting it.
	w.plane.read(func() { delete(w.plane.triggered, appID("web")) })
	w.start()
	require.Equal(t, 1, w.settle(), "the open deployment shows it")
	w.plane.read(func() { require.NotNil(t, w.plane.triggered[appID("web")], "and is reported") })
	w.stop()

	w.write("web/x", "x")
	head := w.commit("Change while piped is away")
	w.start()
	require.Equal(t, head, w.awaitDeployment(2).GetTrigger().GetCommit().GetHash())
	require.Equal(t, 2, w.settle())
}

func TestWhatTheControlPlaneFailsAtIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.application("shop", "  name: shop\n")
	w.commit("Add")
	full := status.Error(codes.FailedPrecondition, "not now")
	w.plane.fail("ListApplications", full)
	w.plane.fail("CreateDeployment", full)
	w.start()
	// News of the registered applications may repeat a pass before the clock does: wake whatever waits.
	require.Eventually(t, func() bool {
		w.clock.ring(time.Minute)
		var all bool
		w.plane.read(func() { all = w.plane.calls["ReportApplicationMostRecentDeployment"] == 2 })
		return all
	}, time.Minute, time.Millisecond)
	w.plane.read(func() {
		require.Len(t, w.plane.refused, 1)
		first := w.plane.deployments[w.plane.order[0]]
		require.NotEqual(t, w.plane.refused[0].GetApplicationId(), first.GetApplicationId(), "the other is not held up")
	})
	require.Equal(t, 2, w.settle())
}

func TestChangedNamesAndLabelsAreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)
	w.application("web", "  name: web2\n  description: new\n  labels: {a: b}\n")
	w.commit("Rename")
	d := w.awaitDeployment(2)
	require.Equal(t, "web2", d.GetApplicationName(), "its deployment has the new name already")
	require.Equal(t, map[string]string{"a": "b"}, d.GetLabels())
	w.settle()
	w.plane.read(func() {
		require.Len(t, w.plane.updates, 1)
		require.Equal(t, "new", w.plane.updates[0].GetDescription())
		require.Equal(t, appID("web"), w.plane.updates[0].GetId())
	})
}

func TestACommitThatMovesAnApplicationIsDeployedToItsNewTarget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n  labels: {target: dev}\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)
	for n, target := range []string{"prod", "dev", "prod"} {
		w.application("web", "  name: web\n  labels: {target: "+target+"}\n")
		w.commit("To " + target)
		d := w.awaitDeployment(n + 2)
		require.Equal(t, []string{target}, d.GetDeployTargetsByPlugin()["kubernetes"].GetDeployTargets())
	}
}

func TestApplicationsAtTheTopAndInShortDirectoriesAreDeployed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application(".", "  name: top\n")
	w.application("a", "  name: short\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(2)
	w.write("a/x", "x")
	w.commit("Change")
	w.awaitDeployment(4)
	w.plane.read(func() {
		require.Equal(t, "./", w.plane.applications[1].GetGitPath().GetPath())
		require.Equal(t, "./a", w.plane.applications[0].GetGitPath().GetPath())
	})
}

func TestOnlySelectedApplicationsAreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.selector = map[string]string{"env": "dev"}
	w.application("web", "  name: web\n  labels: {env: dev, team: a}\n")
	w.application("shop", "  name: shop\n  labels: {env: prod}\n")
	w.application("broken", "  name: [\n")
	w.application("nameless", "  labels: {env: dev}\n")
	w.commit("Add")
	w.start()
	require.Equal(t, "web", w.awaitDeployment(1).GetApplicationName())
	w.plane.read(func() { require.Len(t, w.plane.applications, 1) })
}

func TestAnApplicationWithAConfigurationFileOfAnotherNameIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("web/deploy.yml", "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n")
	w.commit("Add")
	w.plane.applications = []*model.Application{{
		Id: "by-hand", Name: "web", PipedId: "p", ProjectId: "dev", CreatedAt: 1, UpdatedAt: 1,
		GitPath: &model.ApplicationGitPath{
			Repo: &model.ApplicationGitRepository{Id: "apps"}, Path: "web", ConfigFilename: "deploy.yml",
		},
	}}
	w.start()
	require.Equal(t, "by-hand", w.awaitDeployment(1).GetApplicationId())
}

func TestARepositoryThatIsMissingHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.more = map[string]string{"gone": t.TempDir() + "/none"}
	w.plane.applications = []*model.Application{{
		Id: "lost", Name: "lost", PipedId: "p", ProjectId: "dev", CreatedAt: 1, UpdatedAt: 1,
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "gone"}, Path: "web"},
	}}
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	require.Equal(t, "web", w.awaitDeployment(1).GetApplicationName())
	got := w.send(syncCommand("1", "lost", model.SyncStrategy_AUTO))
	require.Equal(t, model.CommandStatus_COMMAND_FAILED, got.status)
	require.Contains(t, got.metadata["Reason"], "no such directory")
}

func TestADeploymentThatStartsAChainIsCreatedAsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application(
		"web",
		"  name: web\n  postSync:\n    chain:\n      applications:\n        - name: shop\n        - labels: {team: "+
			"a}\n",
	)
	w.commit("Add")
	w.start()
	d := w.awaitDeployment(1)
	w.plane.read(func() {
		require.Len(t, w.plane.chains, 1)
		require.Equal(t, "shop", w.plane.chains[0].GetMatchers()[0].GetName())
		require.Equal(t, map[string]string{"team": "a"}, w.plane.chains[0].GetMatchers()[1].GetLabels())
	})
	require.Equal(t, 1, w.settle())
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Equal(t, d.GetId(), w.submitted[0].GetId())
	require.Equal(
		t, "chain-of-the-control-plane", w.submitted[0].GetDeploymentChainId(), "the scheduler knows the chain",
	)
}
