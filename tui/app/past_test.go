// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// earlierOf is a deployment of the example application that has succeeded n minutes before the example.
func earlierOf(n int) *deckv1.Deployment {
	d := decktest.Canary()
	d.Id, d.Status = fmt.Sprintf("earlier-%d", n), deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
	d.CreatedAt, d.CompletedAt = decktest.At(float64(-60*n)), decktest.At(float64(-60*n+30))
	d.Commit = &deckv1.Commit{
		Hash: fmt.Sprintf("%07d%05d", n, n), Message: fmt.Sprintf("Change %d", n), Author: "Ada",
	}
	d.Versions = []string{fmt.Sprintf("helloworld v0.%d", n)}
	return d
}

// past is an environment whose newest deployment has failed after others that have succeeded, with a piped that
// deploys earlier commits.
func past(earlier ...int) []proto.Message {
	app := decktest.Application()
	app.Deploying, app.PipedId = false, "piped-1"
	piped := &deckv1.Piped{Id: "piped-1", Name: "p1", Own: true, DeploysCommits: true}
	objects := []proto.Message{decktest.Environment(), piped, app, decktest.Failed()}
	for _, c := range decktest.Components() {
		objects = append(objects, c)
	}
	for _, n := range earlier {
		objects = append(objects, earlierOf(n))
	}
	return objects
}

func TestAFailedDeploymentIsRetried(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(past()...)
	s := play(t, dial(t, server), 120, 36, seams{})
	s.seesText("FAILURE", "R retry")
	s.types("R")
	s.seesText("Retry the deployment of hello-world?", "piped deploys commit 8b21f00 again",
		"pipedeck retry hello-world")
	s.types("y")
	request := call(t, server).(*deckv1.RetryDeploymentRequest)
	require.Equal(t, "dep-1", request.GetDeploymentId())
	require.Equal(t, "ada", request.GetCommander())
	s.seesText("asked to retry hello-world")
	again := decktest.Canary()
	again.Id, again.RetryOf, again.Commander, again.CreatedAt = "dep-2", "dep-1", "grace", decktest.At(60)
	server.Publish(again)
	s.seesText("retried by grace")
	server.Refuse(status.Error(codes.FailedPrecondition, "commit 8b21f00 is gone"))
	server.Publish(func() *deckv1.Deployment {
		d := decktest.Failed()
		d.Id, d.CreatedAt = "dep-2", decktest.At(60)
		return d
	}())
	s.seesText("R retry")
	s.types("Ry")
	s.seesText("cannot retry hello-world: commit 8b21f00 is gone")
	require.Equal(t, "dep-2", call(t, server).(*deckv1.RetryDeploymentRequest).GetDeploymentId(), "the newest")
}

func TestAnApplicationIsRolledBackToADeploymentFromAList(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(past(2, 1, 3)...)
	s := play(t, dial(t, server), 120, 36, seams{})
	s.seesText("FAILURE")
	s.types("B")
	s.seesText("Roll back hello-world to", "0000001", "helloworld v0.1", "Change 1", "0000003")
	s.types("2")
	s.seesText("Roll back hello-world to 0000002?", "hello-world is out of sync until the next commit",
		"pipedeck rollback hello-world --to earlier-2")
	s.types("\r")
	require.Empty(t, server.Calls, "no is preselected")
	s.types("B22")
	request := call(t, server).(*deckv1.RollBackApplicationRequest)
	require.Equal(t, "earlier-2", request.GetDeploymentId())
	require.Equal(t, "PIPELINE", request.GetStrategy())
	require.Equal(t, "ada", request.GetCommander())
	s.seesText("asked to roll hello-world back to 0000002")
	back := decktest.Canary()
	back.Id, back.RollbackTo, back.Commander, back.CreatedAt = "dep-2", "earlier-2", "grace", decktest.At(60)
	server.Publish(back)
	s.seesText("rolled back by grace")
}

func TestTheDeploymentUnderTheCursorOfTheHistoryIsRolledBackTo(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(past(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)...)
	s := play(t, dial(t, server), 120, 36, seams{})
	s.seesText("FAILURE")
	s.types("dGB")
	s.seesText("Roll back hello-world to 0000011?")
	s.types("y")
	require.Equal(t, "earlier-11", call(t, server).(*deckv1.RollBackApplicationRequest).GetDeploymentId())
}

func TestALongListOfDeploymentsToRollBackToIsScrolledAndFiltered(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	var earlier []int
	for n := range 40 {
		earlier = append(earlier, n+1)
	}
	server.Publish(past(earlier...)...)
	s := play(t, dial(t, server), 100, 24, seams{})
	s.seesText("FAILURE")
	s.types("B")
	s.seesText("Roll back hello-world to", "40 commits deployed with success", "0000001", "0000009")
	s.losesText("0000040")
	s.types("\r")
	s.losesText("Roll back hello-world to")
	require.Empty(t, server.Calls, "no is preselected")
	s.types("BG")
	s.seesText("0000040", "Change 40")
	s.types("\r")
	s.seesText("Roll back hello-world to 0000040?")
	s.types("n")
	s.types("B/change 37")
	s.seesText("/change 37", "0000037")
	s.losesText("0000036")
	s.types("\r\r")
	s.seesText("Roll back hello-world to 0000037?")
	s.types("y")
	require.Equal(t, "earlier-37", call(t, server).(*deckv1.RollBackApplicationRequest).GetDeploymentId())
	s.seesText("asked to roll hello-world back to 0000037")
	s.types("B/nothing like it")
	s.seesText("/nothing like it")
	s.losesText("0000001")
	s.types("\x1b")
	s.seesText("0000001") // esc clears the filter
	s.types("\x1b")
	s.losesText("commits deployed with success")
	require.Empty(t, server.Calls)
}

func TestNoQuestionsButTheChoiceWhereTheKeyFileTurnsThemOff(t *testing.T) {
	t.Parallel()
	m := still(t)
	m.host.file = keymap.Parse([]byte("confirm: never"), "keys.yaml")
	m.size(100, 30)
	m.see(past(1)...)
	require.NotNil(t, m.key("R"))
	require.Nil(t, m.overlays.top())
	m.key("B")
	require.NotNil(t, m.overlays.top())
	require.NotNil(t, m.key("1"))
	require.Nil(t, m.overlays.top())
}

func TestRetryAndRollbackThatAreOffSayWhy(t *testing.T) {
	t.Parallel()
	succeeded := earlierOf(-1) // newer than the failed one
	running := decktest.Canary()
	running.Id, running.CreatedAt = "dep-2", decktest.At(60)
	foreign := &deckv1.Piped{Id: "piped-1", Name: "theirs", Version: "v0.55.0"}
	disabled := decktest.Application()
	disabled.Disabled = true
	for name, c := range map[string]struct {
		objects         []proto.Message
		retry, rollback string
	}{
		"a failed one after one that succeeded": {past(1), "", ""},
		"nothing failed":                        {append(past(1), succeeded), "nothing failed", ""},
		"it still runs": {append(past(1), running), "still runs; cancel it first",
			"still runs; cancel it first"},
		"no earlier success": {past(), "",
			"no earlier deployment of hello-world with another commit has succeeded"},
		"a piped that cannot": {append(past(1), foreign), "piped theirs cannot deploy an earlier commit",
			"piped theirs cannot deploy an earlier commit"},
		"no deployment": {past()[:3], "was never deployed", "was never deployed"},
		"disabled":      {append(past(1), disabled), "is disabled", "is disabled"},
	} {
		m := still(t)
		m.size(100, 30)
		m.see(c.objects...)
		for action, want := range map[keymap.Action]string{keymap.Retry: c.retry, keymap.Rollback: c.rollback} {
			reason := m.actions.reasons()[action]
			if want == "" {
				require.Empty(t, reason, "%s: %s", name, action)
				continue
			}
			require.Contains(t, reason, want, "%s: %s", name, action)
		}
	}
	m := still(t)
	m.size(100, 30)
	m.see(past(1)...)
	m.key("d")
	m.key("G")
	m.key("enter")
	require.Contains(t, m.actions.reasons()[keymap.Retry], "shows an earlier deployment; go to the newest with f")
	m.key("R")
	require.Contains(t, m.toast.text, "cannot deploy the same commit again: the screen shows an earlier deployment")
}

func TestTheCommitThatIsLiveIsNotOffered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*deckv1.Deployment)
		want   []string
	}{
		"after a rollback of the failed deployment": {func(*deckv1.Deployment) {}, []string{"earlier-3"}},
		"after a rollback that has failed": {func(d *deckv1.Deployment) {
			d.Stages[5].Status = deckv1.StageStatus_STAGE_STATUS_FAILURE
		}, []string{"earlier-1", "earlier-3"}},
		"without a rollback": {func(d *deckv1.Deployment) {
			d.Stages = d.Stages[:5]
		}, []string{"earlier-1", "earlier-3"}},
		"after a success": {func(d *deckv1.Deployment) {
			d.Status, d.Commit = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, earlierOf(3).Commit
		}, []string{"earlier-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := still(t)
			failed := decktest.Failed()
			failed.RunningCommit = earlierOf(1).GetCommit().GetHash()
			c.change(failed)
			m.see(append(past(1, 3), failed)...)
			targets, reason := m.link.deck.RollbackTargets(m.chosen.application())
			require.Empty(t, reason)
			var ids []string
			for _, target := range targets {
				ids = append(ids, target.GetId())
			}
			require.Equal(t, c.want, ids)
		})
	}
}

func TestOneDeploymentOfEachCommitIsOffered(t *testing.T) {
	t.Parallel()
	m := still(t)
	same := earlierOf(2)
	same.Commit = earlierOf(1).Commit
	m.see(append(past(1, 3), same)...)
	targets, reason := m.link.deck.RollbackTargets(m.chosen.application())
	require.Empty(t, reason)
	var ids []string
	for _, target := range targets {
		ids = append(ids, target.GetId())
	}
	require.Equal(t, []string{"earlier-1", "earlier-3"}, ids)
}
