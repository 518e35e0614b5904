// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

// pastState has an application with deployments of these ids and commits, the oldest first. One whose commit begins
// with "bad" has failed.
func pastState(deployments ...[2]string) (*session.State, *deckv1.Application) {
	app := &deckv1.Application{Id: "a", Name: "web", PipedId: "p"}
	objects := []proto.Message{app, &deckv1.Piped{Id: "p", Name: "p1", DeploysCommits: true}}
	for i, d := range deployments {
		status := deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
		if d[1][:3] == "bad" {
			status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE
		}
		objects = append(objects, &deckv1.Deployment{Id: d[0], ApplicationId: "a", ApplicationName: "web",
			Status: status, Commit: &deckv1.Commit{Hash: d[1]}, CreatedAt: timestamppb.New(time.Unix(int64(i), 0))})
	}
	s := &session.State{Deck: state.New()}
	for _, event := range decktest.Events(objects...) {
		s.Apply(event)
	}
	return s, app
}

// typed returns a command line of a command with arguments.
func typed(s *session.State, path string, args ...string) *resolve.Line {
	root, of := &cobra.Command{Use: "pipedeck"}, &cobra.Command{Use: path}
	root.AddCommand(of)
	return resolve.NewChange(&session.Session{State: s}, of, args)
}

func TestARollbackGoesToTheDeploymentThatItsArgumentNames(t *testing.T) {
	t.Parallel()
	s, app := pastState([2]string{"1111-x", "aaaa1111"}, [2]string{"2222-x", "aaaa1111"},
		[2]string{"3333-x", "aaaa2222"}, [2]string{"4444-x", "bad0bad0"}, [2]string{"5555-x", "cccc3333"})
	for to, want := range map[string]string{
		"": "3333-x", "1111": "1111-x", "2222-x": "2222-x", "aaaa1": "2222-x", "aaaa2222": "3333-x",
	} {
		d, err := rollbackTarget(s, app, typed(s, "rollback", "web"), to)
		require.NoError(t, err, to)
		require.Equal(t, want, d.GetId(), to)
	}
	for to, says := range map[string]string{
		"aaaa": `"aaaa" fits 2 commits or deployments of web`,
		"aab":  `no earlier deployment of web that has succeeded is "aab"`,
		"4444": "cannot roll back web: deployment 4444-x of commit bad0bad has not succeeded (FAILURE), so it is no " +
			"release to go back to",
		"bad0": "deployment 4444-x of commit bad0bad has not succeeded (FAILURE)",
		"5555": "cannot roll back web: commit cccc333 is live already", "cccc": "commit cccc333 is live already",
	} {
		_, err := rollbackTarget(s, app, typed(s, "rollback", "web"), to)
		var usage *exit.Error
		require.ErrorAs(t, err, &usage, to)
		require.Equal(t, exit.WrongUsage, usage.Code)
		require.ErrorContains(t, err, says)
	}
	_, err := rollbackTarget(s, app, typed(s, "rollback", "web"), "nothing")
	var usage *exit.Error
	require.ErrorAs(t, err, &usage)
	require.Regexp(t, `^run one of:
  pipedeck rollback web --to aaaa222   # deployment of web, SUCCESS, commit aaaa222, \d+ days ago
  pipedeck rollback web --to aaaa111   # deployment of web, SUCCESS, commit aaaa111, \d+ days ago$`, usage.Hint)
}

func TestAFailedDeploymentThatWasRolledBackIsNotRolledBackFurtherByItself(t *testing.T) {
	t.Parallel()
	s, app := pastState([2]string{"1111", "aaaa1111"}, [2]string{"2222", "aaaa2222"}, [2]string{"3333", "bad0bad0"})
	failed := proto.CloneOf(s.Newest("a"))
	failed.RunningCommit = "aaaa2222"
	failed.Stages = []*deckv1.Stage{{Id: "s", Rollback: true, Status: deckv1.StageStatus_STAGE_STATUS_SUCCESS}}
	for _, event := range decktest.Events(failed) {
		s.Apply(event)
	}
	_, err := rollbackTarget(s, app, typed(s, "rollback", "web"), "")
	require.EqualError(t, err, "cannot roll back web: its failed deployment was rolled back already, so commit "+
		"aaaa222 is live")
	require.Equal(t, "for an older one: pipedeck rollback web --to 1111", err.(*exit.Error).Hint)
	d, err := rollbackTarget(s, app, typed(s, "rollback", "web"), "1111")
	require.NoError(t, err)
	require.Equal(t, "1111", d.GetId())
}

func TestARollbackToAFailureSaysSoAlsoWithoutAnotherRelease(t *testing.T) {
	t.Parallel()
	s, app := pastState([2]string{"1111-x", "aaaa1111"}, [2]string{"2222-x", "bad0bad0"},
		[2]string{"3333-x", "aaaa1111"})
	_, err := rollbackTarget(s, app, typed(s, "rollback", "web"), "2222")
	require.EqualError(t, err, "cannot roll back web: deployment 2222-x of commit bad0bad has not succeeded "+
		"(FAILURE), so it is no release to go back to")
	require.Equal(t, "see pipedeck deployments", err.(*exit.Error).Hint)
}

func TestAReasonThatNamesTheNextStepIsAnErrorWithIt(t *testing.T) {
	t.Parallel()
	s, app := pastState([2]string{"1111", "aaaa1111"})
	_, err := rollbackTarget(s, app, typed(s, "rollback", "web"), "")
	require.ErrorContains(t, err,
		"cannot roll back web: no earlier deployment of web with another commit has succeeded")
	require.Equal(t, "see pipedeck deployments", err.(*exit.Error).Hint)
	running := cannot("retry", app, "a deployment of web still runs; cancel it first").(*exit.Error)
	require.EqualError(t, running, "cannot retry web: a deployment of web still runs")
	require.Equal(t, "cancel it first", running.Hint)
}

func TestWhatWasAskedForNamesTheCommitAndTheDeployment(t *testing.T) {
	t.Parallel()
	of := &deckv1.Deployment{Id: "d1", ApplicationName: "web", Commit: &deckv1.Commit{Hash: "aaaa11112222"}}
	waiting := again("asked to retry web", of, "c", "")
	require.Equal(t, "asked to retry web, by a deployment of commit aaaa111", waiting.Text)
	require.Empty(t, waiting.Deployment)
	created := again("asked to retry web", of, "c", "d2")
	require.Equal(t, waiting.Text+": d2", created.Text)
	require.Equal(t, document.Action{App: "web", Deployment: "d2", Commit: "aaaa11112222", Of: "d1", Command: "c",
		Text: created.Text}, created)
}
