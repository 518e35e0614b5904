// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/state"
)

// waitingState has stages that wait for approval: one of shop, two of WAIT (also the name of a stage), two applications
// named web.
func waitingState(t *testing.T) *session.State {
	t.Helper()
	s := &session.State{Deck: state.New()}
	for _, d := range []struct{ id, app string }{{"shop-id", "shop"}, {"wait-id", "WAIT"}, {"web-1", "web"},
		{"web-2", "web"}, {"idle-id", "idle"}} {
		s.Apply(&deckv1.Event{Kind: &deckv1.Event_Application{Application: &deckv1.Application{Id: d.id, Name: d.app}}})
		var stages []*deckv1.Stage
		stage := func(id, name string, waits bool, approvers ...string) {
			stages = append(stages, &deckv1.Stage{Id: id, Name: name, CanApprove: waits, CanSkip: waits,
				Approvers: approvers, Status: deckv1.StageStatus_STAGE_STATUS_RUNNING})
		}
		switch d.id {
		case "shop-id":
			stage("s0", "WAIT", true)
			stage("s1", "WAIT_APPROVAL", true, "alice", "bob")
		case "wait-id":
			stage("s2", "CHECK IT", true)
		case "idle-id":
			stage("s3", "WAIT_APPROVAL", false)
		default:
			stage("s-"+d.id, "WAIT_APPROVAL", true)
		}
		s.Apply(&deckv1.Event{Kind: &deckv1.Event_Deployment{Deployment: &deckv1.Deployment{Id: "d-" + d.id,
			ApplicationId: d.id, ApplicationName: d.app, Stages: stages}}})
	}
	return s
}

func TestAWaitingStageIsNamedWithoutAmbiguity(t *testing.T) {
	t.Parallel()
	s := waitingState(t)
	for args, want := range map[string]string{
		"shop WAIT_APPROVAL": "s1", "shop-id s1": "s1", "s1": "s1", "CHECK IT": "s2", "web-2": "s-web-2",
		"shop WAIT": "s0",
	} {
		split := strings.SplitN(args, " ", 2)
		if args == "CHECK IT" {
			split = []string{args}
		}
		w, err := approving().find(typed(s, "approve", split...))
		require.NoError(t, err, args)
		require.Equal(t, want, w.stage.GetId(), args)
	}
	for args, says := range map[string]string{
		"":     "5 stages wait to be approved",
		"shop": `2 stages wait to be approved and fit "shop"`,
		// an application, and a stage of another one
		"WAIT":               `2 stages wait to be approved and fit "WAIT"`,
		"WAIT_APPROVAL":      `3 stages wait to be approved and fit "WAIT_APPROVAL"`,
		"web WAIT_APPROVAL":  `2 stages wait to be approved and fit "web WAIT_APPROVAL"`,
		"idle":               "no stage of idle waits to be approved",
		"idle WAIT_APPROVAL": `no stage "WAIT_APPROVAL" of idle waits to be approved`,
		"nothing":            `no stage "nothing" waits to be approved`,
		"nothing WAIT":       `there is no application or deployment "nothing"`,
	} {
		_, err := approving().find(typed(s, "approve", strings.Fields(args)...))
		failure := (*exit.Error)(nil)
		require.True(t, errors.As(err, &failure), args)
		require.Equal(t, exit.WrongUsage, failure.Code)
		require.ErrorContains(t, err, says)
	}
}

func TestAStageIsFoundByTheIDThatItsAuthorGaveIt(t *testing.T) {
	t.Parallel()
	s := &session.State{Deck: state.New()}
	d := decktest.Canary()
	d.Stages[2].ConfigId = "approve"
	for _, event := range decktest.Events(decktest.Application(), d) {
		s.Apply(event)
	}
	for _, args := range [][]string{nil, {"approve"}, {"hello-world", "approve"}, {"hello-world", "WAIT_APPROVAL"}} {
		w, err := approving().find(typed(s, "approve", args...))
		require.NoError(t, err, args)
		require.Equal(t, "s3", w.stage.GetId())
		require.Equal(t, []string{"hello-world", "approve"}, w.args)
		done := w.action("approved", " as bob", "c")
		require.Equal(t, "approved approve of hello-world as bob, commit 8b21f00: Greet the world in Welsh", done.Text)
		require.Equal(t, "8b21f00cafe5", done.Commit)
	}
	d.Stages[1].Name, d.Stages[1].ConfigId, d.Stages[1].CanApprove = "WAIT_APPROVAL", "security", true
	s.Apply(decktest.Events(d)[0])
	w, err := approving().find(typed(s, "approve", "hello-world", "security"))
	require.NoError(t, err)
	require.Equal(t, "s2", w.stage.GetId())
	_, err = approving().find(typed(s, "approve", "WAIT_APPROVAL"))
	failure := (*exit.Error)(nil)
	require.ErrorAs(t, err, &failure)
	require.Regexp(t, `^run one of:
  pipedeck approve hello-world security   # stage security \(WAIT_APPROVAL\), SUCCESS of the deployment of .* ago
  pipedeck approve hello-world approve   # stage approve \(WAIT_APPROVAL\), RUNNING of the .* ago$`, failure.Hint)
	_, err = approving().find(typed(s, "approve", ""))
	require.Error(t, err, "an empty word means no stage without an id")
}

func TestAnApprovalOfAnOlderDeploymentNamesTheNewerCommitThatWaits(t *testing.T) {
	t.Parallel()
	s := &session.State{Deck: state.New()}
	older := decktest.Canary()
	newer := &deckv1.Deployment{Id: "d-newer", ApplicationId: older.GetApplicationId(),
		ApplicationName: older.GetApplicationName(), Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING,
		Commit:    &deckv1.Commit{Hash: "cccc3333dddd"},
		CreatedAt: timestamppb.New(older.GetCreatedAt().AsTime().Add(time.Minute))}
	says := func() string {
		for _, event := range decktest.Events(decktest.Application(), older, newer) {
			s.Apply(event)
		}
		w, err := approving().find(typed(s, "approve"))
		require.NoError(t, err)
		return w.namesNewer(s, w.action("approved", "", "c")).Text
	}
	const approved = "approved WAIT_APPROVAL of hello-world, commit 8b21f00: Greet the world in Welsh"
	require.Equal(t, approved+"; the newer commit cccc333 waits, as deployment d-newer", says())
	newer.Status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED
	require.Equal(t, approved, says(), "it does not wait any more")
	newer.Status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING
	newer.CreatedAt = timestamppb.New(older.GetCreatedAt().AsTime().Add(-time.Minute))
	require.Equal(t, approved, says(), "it is not newer")
}

func TestAPrintedCommandApprovesOneStageAsItStands(t *testing.T) {
	t.Parallel()
	s := waitingState(t)
	_, err := skipping().find(typed(s, "skip"))
	failure := (*exit.Error)(nil)
	require.True(t, errors.As(err, &failure))
	lines := strings.Split(failure.Hint, "\n")
	require.Equal(t, "run one of:", lines[0])
	var commands []string
	for _, line := range lines[1:] {
		command, about, _ := strings.Cut(line, "   # ")
		require.Contains(t, about, "of the deployment of ")
		commands = append(commands, command)
	}
	require.ElementsMatch(t, []string{
		"  pipedeck skip shop WAIT", "  pipedeck skip shop WAIT_APPROVAL", "  pipedeck skip WAIT 'CHECK IT'",
		"  pipedeck skip web-1 s-web-1", "  pipedeck skip web-2 s-web-2",
	}, commands)
	seen := map[string]bool{}
	for _, command := range commands {
		words := strings.SplitN(strings.TrimPrefix(command, "  pipedeck skip "), " ", 2)
		w, err := skipping().find(typed(s, "skip", words[0], strings.Trim(words[1], "'")))
		require.NoError(t, err, command)
		require.False(t, seen[w.stage.GetId()])
		seen[w.stage.GetId()] = true
	}
}

func TestAWaitingStageIsNamedByTheBeginningOfAnIDAndByWholeNames(t *testing.T) {
	t.Parallel()
	s := waitingState(t)
	for args, want := range map[string]string{
		"d-web-2": "s-web-2", "d-sh WAIT_APPROVAL": "s1", "shop WAIT": "s0", "s2": "s2",
		"d-web-1 WAIT_APPROVAL": "s-web-1",
	} {
		w, err := approving().find(typed(s, "approve", strings.Fields(args)...))
		require.NoError(t, err, args)
		require.Equal(t, want, w.stage.GetId(), args)
	}
	_, err := approving().find(typed(s, "approve", "web"))
	require.ErrorContains(t, err, `2 stages wait to be approved and fit "web"`)
	for _, args := range [][]string{{"sho"}, {"sho", "WAIT"}, {"shop", "WAI"}, {"CHECK"}} {
		_, err := approving().find(typed(s, "approve", args...))
		require.Error(t, err, "%v may mean another one that is gone", args)
	}
}

func approve(t *testing.T, server *decktest.Server, as string, args ...string) error {
	t.Helper()
	deck := server.Dial(t)
	s, err := session.ReadState(t.Context(), deck)
	require.NoError(t, err)
	_, err = approveStage(t.Context(), &session.Session{Deck: deck, State: s}, typed(s, "approve", args...), as)
	return err
}

func TestAStageWithNamedApproversIsApprovedInTheNameOfOne(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	d := decktest.Canary()
	d.Stages[2].Approvers = []string{"the on-call team", "alice"}
	server.Publish(d)
	err := approve(t, server, "", "hello-world")
	failure := (*exit.Error)(nil)
	require.True(t, errors.As(err, &failure))
	require.Equal(t, exit.WrongUsage, failure.Code)
	require.ErrorContains(t, err, "stage WAIT_APPROVAL of hello-world needs an approval of the on-call team or "+
		"alice, not of ")
	require.Equal(t, "pipedeck approve hello-world WAIT_APPROVAL --as 'the on-call team'", failure.Hint)
	require.Empty(t, server.Calls)

	require.NoError(t, approve(t, server, "alice", "hello-world", "WAIT_APPROVAL"))
	request := (<-server.Calls).(*deckv1.ApproveStageRequest)
	require.Equal(t, "alice", request.GetCommander())
	require.Equal(t, session.Commander(), request.GetUser(), "the stage keeps who did it")
}
