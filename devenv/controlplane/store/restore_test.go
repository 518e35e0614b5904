// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// reopen is what the next control plane knows. The one before was killed: it does not close the file.
func reopen(t testing.TB, path string, limits store.Limits) (*store.Store, *journal.Journal) {
	t.Helper()
	s, _ := newStore(limits)
	j := journal.Open(journal.Options{Path: path, State: s})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = j.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	s.KeepIn(j)
	return s, j
}

// kept waits until everything is kept.
func kept(t testing.TB, j *journal.Journal) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	require.NoError(t, j.Wait(ctx))
}

// all is the state as those who watch see it, without pipeds and the moment at which they look.
func all(s *store.Store) []store.Change {
	sub, changes := s.Subscribe(true)
	defer sub.Close()
	changes = withoutPipeds(changes)
	for i := range changes {
		changes[i].Time = time.Time{}
	}
	return changes
}

func withoutPipeds(changes []store.Change) []store.Change {
	return slices.DeleteFunc(changes, func(c store.Change) bool { return c.Piped != nil })
}

func requireSame(t *testing.T, want, got []store.Change) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if a, b := want[i].Application, got[i].Application; a != nil {
			require.True(t, proto.Equal(a.Model, b.Model), "%v\n%v", a.Model, b.Model)
			require.Equal(t, a.LatestDeploymentID, b.LatestDeploymentID)
		}
		if a, b := want[i].Deployment, got[i].Deployment; a != nil {
			require.True(t, proto.Equal(a.Model, b.Model), "%v\n%v", a.Model, b.Model)
			require.True(t, a.Created.Equal(b.Created) && a.Completed.Equal(b.Completed))
			require.Len(t, b.Stages, len(a.Stages))
			for id, times := range a.Stages {
				require.True(t, times.Started.Equal(b.Stages[id].Started) &&
					times.Completed.Equal(b.Stages[id].Completed))
			}
			require.Len(t, b.Runs, len(a.Runs))
			for id, run := range a.Runs {
				require.True(t, proto.Equal(run, b.Runs[id]), "%v\n%v", run, b.Runs[id])
			}
		}
		if a, b := want[i].Log, got[i].Log; a != nil {
			require.Equal(t, a.To-a.From, b.To-b.From)
		}
	}
}

// live brings a store to a state that has something of everything.
func live(t testing.TB, s *store.Store) (command string) {
	t.Helper()
	for _, id := range []string{"a", "b", "gone"} {
		importApplication(s, id, nil)
	}
	require.NoError(t, s.DeleteApplication("gone"))
	require.NoError(t, s.Applications.SetDisabled("b", true))
	stage := run(t, s, "done", "a")
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("done", stage, model.StageStatus_STAGE_RUNNING, 0)))
	require.NoError(t, s.Deployments.AppendLog(piped,
		store.LogReport{DeploymentID: "done", StageID: stage, Blocks: blocks(1, 3, "x")}))
	require.NoError(t, s.Deployments.AppendLog(piped,
		store.LogReport{DeploymentID: "done", StageID: stage, Checkpoint: true, Completed: true}))
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("done", stage, model.StageStatus_STAGE_SUCCESS, 0)))
	finish(t, s, "done", model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	require.NoError(t, s.Applications.ReportMostRecentDeployment(piped, "a", model.DeploymentStatus_DEPLOYMENT_SUCCESS,
		&model.ApplicationDeploymentReference{DeploymentId: "done"}))

	stage = run(t, s, "open", "a")
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("open", stage, model.StageStatus_STAGE_RUNNING, 2)))
	require.NoError(t, s.Deployments.MergeStageMetadata(piped, "open", stage, map[string]string{"startTime": "7"}))
	require.NoError(t, s.Deployments.MergePluginMetadata(piped, "open", "p", map[string]string{"k": "v"}))
	require.NoError(t, s.Deployments.AppendLog(piped,
		store.LogReport{DeploymentID: "open", StageID: stage, Attempt: 2, Blocks: blocks(1, 2, "y")}))
	require.NoError(t, s.Objects.Put(piped, "a", "p", "k", []byte("object")))
	_, err := s.Events.Register(&model.Event{Name: "e"}, nil)
	require.NoError(t, err)
	handled, err := s.Commands.Add(&model.Command{PipedId: piped, Type: model.Command_SYNC_APPLICATION})
	require.NoError(t, err)
	require.NoError(t, s.Commands.ReportHandled(piped,
		store.HandledCommand{ID: handled, Status: model.CommandStatus_COMMAND_SUCCEEDED, HandledAt: 1}))
	command, err = s.Commands.Add(&model.Command{PipedId: piped, Type: model.Command_CANCEL_DEPLOYMENT,
		DeploymentId: "open"})
	require.NoError(t, err)
	return command
}

func TestTheNextControlPlaneKnowsWhatTheKilledOneDid(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	first, j := reopen(t, path, store.Limits{})
	command := live(t, first)
	check := func(next *store.Store) {
		requireSame(t, all(first), all(next))
		open := openOf(next, piped)
		require.Len(t, open, 1)
		require.Equal(t, "7", open[0].GetStages()[0].GetMetadata()["startTime"])
		require.Equal(t, "v", open[0].GetMetadataV2().GetPlugins()["p"].GetKeyValues()["k"])
		waiting := next.Commands.Waiting(piped)
		require.Len(t, waiting, 1)
		require.Equal(t, command, waiting[0].GetId())
		object, err := next.Objects.Get(piped, "a", "p", "k")
		require.NoError(t, err)
		require.Equal(t, "object", string(object))
		require.Len(t, allEvents(next), 1)
		page, err := next.Deployments.ReadLog("done", "done-stage", 0)
		require.NoError(t, err)
		require.Len(t, page.Blocks, 3)
		require.True(t, page.Completed)
		_, err = next.Applications.Get("gone")
		requireCode(t, codes.NotFound, err)
		ref, err := next.Applications.MostRecentDeployment(piped, "a", model.DeploymentStatus_DEPLOYMENT_SUCCESS)
		require.NoError(t, err)
		require.Equal(t, "done", ref.GetDeploymentId())
	}
	kept(t, j)
	second, _ := reopen(t, path, store.Limits{})
	check(second)
	first.Watching("/one")
	first.Watching("/one")
	kept(t, j)
	third, rewritten := reopen(t, path, store.Limits{})
	check(third)
	rewritten.Replace()
	importApplication(third, "waited for", nil)
	kept(t, rewritten)
	require.NoError(t, third.DeleteApplication("waited for"))
	kept(t, rewritten)
	fourth, j := reopen(t, path, store.Limits{})
	check(fourth)

	// It goes on: repeated log blocks are known, the deployment ends.
	require.NoError(t, fourth.Deployments.AppendLog(piped,
		store.LogReport{DeploymentID: "open", StageID: "open-stage", Attempt: 2, Blocks: blocks(1, 3, "y")}))
	page, err := fourth.Deployments.ReadLog("open", "open-stage", 0)
	require.NoError(t, err)
	require.Len(t, page.Blocks, 3)
	finish(t, fourth, "open", model.DeploymentStatus_DEPLOYMENT_FAILURE)
	kept(t, j)
	fifth, _ := reopen(t, path, store.Limits{})
	require.Empty(t, openOf(fifth, piped))
}

func TestAnotherRepositoryBeginsFromScratch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	first, j := reopen(t, path, store.Limits{})
	first.Watching("/one")
	live(t, first)
	kept(t, j)
	second, j := reopen(t, path, store.Limits{})
	sub, _ := second.Subscribe(false)
	defer sub.Close()
	require.Zero(t, second.Recognise("local", "uid-1")) // the cluster may be ready before the repository is found
	second.Watching("/two")
	_, err := sub.Next(t.Context())
	require.ErrorIs(t, err, store.ErrFellBehind, "watchers have to read again")
	require.Empty(t, withoutPipeds(sub.Resync()))
	importApplication(second, "a", nil)
	kept(t, j)
	require.NoError(t, second.DeleteApplication("a"))
	kept(t, j)
	third, _ := reopen(t, path, store.Limits{})
	require.Empty(t, all(third))
	require.Empty(t, third.Commands.Waiting(piped))

	importApplication(third, "a", nil)
	require.NoError(t, third.Applications.SetDeployTargets("a",
		map[string]*model.DeployTargets{"kubernetes": {DeployTargets: []string{"local"}}}))
	require.NoError(t, third.Applications.ReportMostRecentDeployment(piped, "a",
		model.DeploymentStatus_DEPLOYMENT_SUCCESS, &model.ApplicationDeploymentReference{DeploymentId: "d"}))
	require.Equal(t, 1, third.Recognise("local", "uid-2"), "which cluster it was is known all the same")
}

func TestAnotherClusterGetsItsApplicationsAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	first, j := reopen(t, path, store.Limits{})
	require.Zero(t, first.Recognise("local", "uid-1"))
	for _, id := range []string{"a", "elsewhere", "never"} {
		importApplication(first, id, nil)
	}
	require.NoError(t, first.Applications.SetDeployTargets("a",
		map[string]*model.DeployTargets{"kubernetes": {DeployTargets: []string{"local"}}}))
	require.NoError(t, first.Applications.SetDeployTargets("never",
		map[string]*model.DeployTargets{"kubernetes": {DeployTargets: []string{"local"}}}))
	for _, id := range []string{"a", "elsewhere"} {
		require.NoError(t, first.Applications.ReportMostRecentDeployment(piped, id,
			model.DeploymentStatus_DEPLOYMENT_SUCCESS, &model.ApplicationDeploymentReference{DeploymentId: "d"}))
	}
	kept(t, j)
	second, _ := reopen(t, path, store.Limits{})
	require.Zero(t, second.Recognise("local", "uid-1"), "the same one")
	require.Equal(t, 1, second.Recognise("local", "uid-2"))
	waiting := second.Commands.Waiting(piped)
	require.Len(t, waiting, 1)
	require.Equal(t, "a", waiting[0].GetSyncApplication().GetApplicationId())
	_, err := second.Applications.MostRecentDeployment(piped, "a", model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	requireCode(t, codes.NotFound, err)
	_, err = second.Applications.MostRecentDeployment(piped, "elsewhere", model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	require.NoError(t, err)
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	limits := store.Limits{DeploymentsPerApplication: 3}
	s, j := reopen(t, path, limits)
	importApplication(s, "a", nil)
	text := string(make([]byte, 64<<10))
	for i := range 40 {
		id := string(rune('A' + i))
		stage := run(t, s, id, "a")
		require.NoError(t, s.Deployments.AppendLog(piped,
			store.LogReport{DeploymentID: id, StageID: stage, Blocks: blocks(0, 20, text)}))
		finish(t, s, id, model.DeploymentStatus_DEPLOYMENT_SUCCESS)
		kept(t, j)
	}
	require.Less(t, j.Size(), int64(12<<20), "of 50 MiB of logs")
	next, _ := reopen(t, path, limits)
	require.Len(t, allDeployments(next), 3)
}

func TestAChainGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	s, j := reopen(t, path, store.Limits{})
	importApplication(s, "a", nil)
	importApplication(s, "b", map[string]string{"next": "yes"})
	importApplication(s, "c", nil)
	require.NoError(t, s.Deployments.CreateChain(piped, &pipedservice.CreateDeploymentChainRequest{
		FirstDeployment: newDeployment("first", "a"),
		Matchers: []*pipedservice.CreateDeploymentChainRequest_ApplicationMatcher{
			{Labels: map[string]string{"next": "yes"}},
		},
	}))
	kept(t, j)
	next, j := reopen(t, path, store.Limits{})
	waiting := next.Commands.Waiting(piped)
	require.Len(t, waiting, 1)
	chain := waiting[0].GetChainSyncApplication()
	require.Equal(t, "b", chain.GetApplicationId())
	second := newDeployment("second", "b")
	second.DeploymentChainId, second.DeploymentChainBlockIndex = chain.GetDeploymentChainId(), chain.GetBlockIndex()
	require.NoError(t, next.Deployments.Create(piped, second))
	verdict, err := next.Deployments.InChainPlannable(piped, "second", chain.GetDeploymentChainId(), 1)
	require.NoError(t, err)
	require.Equal(t, store.ChainVerdict{}, verdict, "it waits")
	require.NoError(t, next.Deployments.ReportCompleted(piped,
		&pipedservice.ReportDeploymentCompletedRequest{DeploymentId: "first",
			Status: model.DeploymentStatus_DEPLOYMENT_SUCCESS, CompletedAt: 1}))
	kept(t, j)
	last, _ := reopen(t, path, store.Limits{})
	verdict, err = last.Deployments.InChainPlannable(piped, "second", chain.GetDeploymentChainId(), 1)
	require.NoError(t, err)
	require.True(t, verdict.Plannable)
}

func TestTheNextControlPlaneKnowsRegisteredPipedsAndCommitsOfEvents(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	first, j := reopen(t, path, store.Limits{Pipeds: 2})
	key := store.KeyHash{1, 2, 3}
	require.NoError(t, first.Pipeds.Register("second", "legacy", "by hand", key))
	requireCode(t, codes.ResourceExhausted, first.Pipeds.Register("third", "", "", key))
	_, err := first.Pipeds.ReportMeta("second", meta("/srv/repo"))
	require.NoError(t, err)
	require.NoError(t, first.Pipeds.SetDisabled(piped, true))
	_, err = first.Applications.Register("second", []*model.ApplicationInfo{info("a")})
	require.NoError(t, err)
	commit := &model.Commit{Hash: "cafe", Message: "Release 2\n\nWith words.", Author: "Ada",
		Url: "https://example.com/cafe", CreatedAt: 7}
	_, err = first.Events.Register(&model.Event{Name: "image", Data: "2", TriggerCommitHash: "cafe"}, commit)
	require.NoError(t, err)
	deploy := func(s *store.Store, id string) {
		d := newDeployment(id, applicationsOf(s, "second")[0].GetId())
		d.PipedId, d.DeploymentTraceCommitHash = "second", "cafe"
		require.NoError(t, s.Deployments.Create("second", d))
	}
	deploy(first, "d1")
	kept(t, j)

	second, j := reopen(t, path, store.Limits{})
	got, known := second.Pipeds.Key("second")
	require.True(t, known)
	require.Equal(t, key, got)
	_, known = second.Pipeds.Key(piped)
	require.False(t, known, "it is disabled")
	shown, err := second.Pipeds.Get("second")
	require.NoError(t, err)
	require.Equal(t, "legacy", shown.GetName())
	require.Len(t, applicationsOf(second, "second"), 1)
	deploy(second, "d2")
	j.Replace()
	second.Pipeds.Add("replaced", "", "", key)
	kept(t, j)
	third, _ := reopen(t, path, store.Limits{})
	deploy(third, "d3")
	for _, id := range []string{"d1", "d2", "d3"} {
		d, err := third.Deployments.Get(id)
		require.NoError(t, err)
		require.Equal(t, commit.String(), d.EventCommit.String(), id)
	}
}
