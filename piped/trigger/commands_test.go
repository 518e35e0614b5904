// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
)

func syncCommand(id, application string, strategy model.SyncStrategy) *model.Command {
	return &model.Command{
		Id: id, PipedId: "p", ApplicationId: application, Commander: "carol", Type: model.Command_SYNC_APPLICATION,
		SyncApplication: &model.Command_SyncApplication{ApplicationId: application, SyncStrategy: strategy},
	}
}

func chainCommand(id, application string) *model.Command {
	return &model.Command{
		Id: id, PipedId: "p", ApplicationId: application, Commander: "chain",
		Type: model.Command_CHAIN_SYNC_APPLICATION,
		ChainSyncApplication: &model.Command_ChainSyncApplication{
			ApplicationId: application, DeploymentChainId: "chain", BlockIndex: 2,
		},
	}
}

func TestASyncCommandGetsADeploymentAndItsId(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)

	got := w.send(syncCommand("1", appID("web"), model.SyncStrategy_AUTO))
	require.Equal(t, model.CommandStatus_COMMAND_SUCCEEDED, got.status)
	d := w.awaitDeployment(2)
	require.Equal(t, d.GetId(), got.metadata["TriggeredDeploymentID"])
	require.Equal(t, "carol", d.GetTrigger().GetCommander())
	require.Empty(t, d.GetTrigger().GetStrategySummary(), "the planner says why")

	w.send(syncCommand("2", appID("web"), model.SyncStrategy_QUICK_SYNC))
	d = w.awaitDeployment(3)
	require.Equal(t, model.SyncStrategy_QUICK_SYNC, d.GetTrigger().GetSyncStrategy())
	require.Equal(t, "Quick sync because of a command of carol", d.GetTrigger().GetStrategySummary())

	w.send(
		syncCommand("3", appID("web"), model.SyncStrategy_PIPELINE),
		syncCommand("4", appID("web"), model.SyncStrategy_PIPELINE),
	)
	require.Equal(
		t, "Sync with the specified pipeline because of a command of carol",
		w.awaitDeployment(5).GetTrigger().GetStrategySummary(),
	)
	require.Equal(t, 5, w.settle(), "each command got one deployment, one pass after the other")
}

func TestASyncCommandDeploysWhatWasPushedBeforeIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n  trigger:\n    onCommit:\n      disabled: true\n")
	w.commit("Add")
	w.start()
	require.Equal(t, 0, w.settle())
	for i := range 5 {
		w.write("web/x", string(rune('a'+i)))
		head := w.commit("Change")
		got := w.send(syncCommand(head, appID("web"), model.SyncStrategy_AUTO))
		w.plane.read(func() {
			require.Equal(
				t, head, w.plane.deployments[got.metadata["TriggeredDeploymentID"]].GetTrigger().GetCommit().GetHash(),
			)
		})
	}
}

func TestCommandsThatCannotBeCarriedOutAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n  trigger:\n    onCommand:\n      disabled: true\n")
	w.application("bad", "  name: bad\n  timeout: soon\n")
	w.application("chained", "  name: chained\n  trigger:\n    onChain:\n      disabled: false\n")
	w.commit("Add")
	w.plane.applications = []*model.Application{{
		Id: "elsewhere", Name: "elsewhere", PipedId: "p", ProjectId: "dev", CreatedAt: 1, UpdatedAt: 1,
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "other"}, Path: "web"},
	}}
	w.start()
	w.awaitDeployment(2)
	for _, test := range []struct {
		command *model.Command
		reason  string
	}{
		{syncCommand("disabled", appID("web"), model.SyncStrategy_AUTO), "trigger.onCommand.disabled is true"},
		{chainCommand("unchained", appID("web")), "set trigger.onChain.disabled to false"},
		{
			syncCommand("unknown", "absent", model.SyncStrategy_AUTO),
			`application "absent" is unknown to this piped or disabled`,
		},
		{syncCommand("broken", appID("bad"), model.SyncStrategy_AUTO), "bad/app.pipecd.yaml:5:12"},
		{
			syncCommand("foreign", "elsewhere", model.SyncStrategy_AUTO),
			`repository "other" of application elsewhere is not in the configuration`,
		},
	} {
		got := w.send(test.command)
		require.Equal(t, model.CommandStatus_COMMAND_FAILED, got.status, test.command.GetId())
		require.Contains(t, got.metadata["Reason"], test.reason, test.command.GetId())
	}
	w.send(chainCommand("chained", appID("chained")))
	d := w.awaitDeployment(3)
	require.Equal(t, "chain", d.GetDeploymentChainId())
	require.EqualValues(t, 2, d.GetDeploymentChainBlockIndex())
	require.Equal(t, "Sync in block 2 of deployment chain chain", d.GetTrigger().GetStrategySummary())
	require.Equal(t, 3, w.settle())
}

func TestACommandIsCarriedOutOnceAlthoughItsAnswerGotLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)

	lost := status.Error(codes.FailedPrecondition, "lost")
	w.plane.fail("ReportCommandHandled", lost)
	w.plane.read(func() {
		w.plane.commands = append(w.plane.commands, syncCommand("1", appID("web"), model.SyncStrategy_AUTO))
	})
	w.feed()
	w.plane.await(t, "the answer that gets lost", func() bool { return w.plane.calls["ReportCommandHandled"] > 0 })
	w.stop() // and piped dies

	w.plane.read(func() { w.plane.deployments[w.plane.order[1]].Status = model.DeploymentStatus_DEPLOYMENT_SUCCESS })
	w.start()
	w.feed()
	w.plane.await(t, "the answer", func() bool { return len(w.plane.handled["1"]) > 0 })
	require.Equal(t, 2, w.settle())
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.submitted[len(w.submitted)-1]
	require.Equal(
		t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, last.GetStatus(), "the scheduler sees that it has ended",
	)
	w.plane.read(func() {
		require.Equal(t, w.plane.order[1], w.plane.handled["1"][0].GetMetadata()["TriggeredDeploymentID"])
	})
}

func TestWhatTheControlPlaneRefusesAnswersTheCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.application("web", "  name: web\n")
	w.commit("Add")
	w.start()
	w.awaitDeployment(1)
	w.plane.fail("CreateDeployment", status.Error(codes.PermissionDenied, "another piped's application"))
	got := w.send(syncCommand("1", appID("web"), model.SyncStrategy_AUTO))
	require.Equal(t, model.CommandStatus_COMMAND_FAILED, got.status)
	require.Contains(t, got.metadata["Reason"], "another piped's application")
}
