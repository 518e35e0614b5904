// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// components are the components as a watcher that comes now sees them.
func components(s *store.Store) map[string]*deckv1.Component {
	sub, state := s.Subscribe(false)
	defer sub.Close()
	found := map[string]*deckv1.Component{}
	for _, c := range state {
		if c.Component != nil {
			found[c.Component.GetName()] = c.Component
		}
	}
	return found
}

func ready(s *store.Store, names ...string) {
	for i, name := range names {
		s.Environment.SetComponent(&deckv1.Component{Name: name, Order: int32(i), State: deckv1.Component_STATE_READY,
			Detail: "fine"})
	}
}

func TestAProblemDegradesItsComponentUntilItIsCleared(t *testing.T) {
	t.Parallel()
	s, clock := newStore(store.Limits{})
	ready(s, "kubernetes", "kubernetes b", "piped")
	sub, _ := s.Subscribe(false)
	defer sub.Close()
	s.Environment.SetProblem(store.Problem{Part: "kubernetes b", Reason: "no answer\nfrom its API",
		NextStep: "start it"})
	since := clock.now()
	clock.advance(time.Minute)
	s.Environment.SetProblem(store.Problem{Part: "kubernetes b", Reason: "no answer; from its API",
		NextStep: "start it"})

	changes, err := sub.Next(t.Context())
	require.NoError(t, err)
	require.Len(t, changes, 2, "the same problem set again is no change")
	require.Equal(t, "kubernetes b", changes[0].Problem.GetPart())
	require.Equal(t, "no answer; from its API", changes[0].Problem.GetReason(), "it is shown on one line")
	require.Equal(t, since.UTC(), changes[0].Problem.GetSince().AsTime())
	require.Equal(t, deckv1.Component_STATE_DEGRADED, changes[1].Component.GetState())
	require.Equal(t, "start it", changes[1].Component.GetHint())
	require.Equal(t, deckv1.Component_STATE_READY, components(s)["kubernetes"].GetState())

	s.Environment.SetComponent(&deckv1.Component{Name: "kubernetes b", State: deckv1.Component_STATE_READY,
		Detail: "still fine"})
	require.Equal(t, deckv1.Component_STATE_DEGRADED, components(s)["kubernetes b"].GetState(),
		"its problem is still there")
	require.Len(t, s.Environment.Problems(), 1)
	s.Environment.ClearProblem("kubernetes b")
	require.Empty(t, s.Environment.Problems())
	require.Equal(t, "still fine", components(s)["kubernetes b"].GetDetail())
}

func TestAProblemThatAPipedFindsAgainAfterItsStartKeepsItsBeginning(t *testing.T) {
	t.Parallel()
	s, clock := newStore(store.Limits{})
	report := func(parts ...string) {
		t.Helper()
		var problems []*agentv1.Problem
		for _, part := range parts {
			problems = append(problems, &agentv1.Problem{Part: part, Reason: "r", Since: timestamppb.New(clock.now())})
		}
		require.NoError(t, s.Pipeds.ReportHealth(piped, problems))
	}
	starts := func() {
		t.Helper()
		_, err := s.Pipeds.ReportMeta(piped, &pipedservice.ReportPipedMetaRequest{Version: "v1"})
		require.NoError(t, err)
	}
	since := func() map[string]time.Time {
		found := map[string]time.Time{}
		for _, p := range s.Environment.Problems() {
			found[p.GetPart()] = p.GetSince().AsTime()
		}
		return found
	}
	starts()
	report("a", "b")
	begun := clock.now().UTC()
	clock.advance(time.Hour)
	starts()
	report() // it has not looked yet
	require.Empty(t, since())
	clock.advance(time.Minute)
	report("a", "new")
	again := clock.now().UTC()
	require.Equal(t, map[string]time.Time{"a": begun, "new": again}, since())
	clock.advance(time.Hour)
	report("a", "b")
	require.Equal(t, map[string]time.Time{"a": begun, "b": again.Add(time.Hour)}, since(), "b was gone for an hour")
}

func TestAFailedComponentIsAProblemUntilItIsReady(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	s.Environment.SetComponent(&deckv1.Component{Name: "plugin x", State: deckv1.Component_STATE_FAILED,
		Detail: "main.go:3: undefined: y", Hint: "fix it and save"})
	require.Equal(t, "main.go:3: undefined: y", s.Environment.Problems()[0].GetReason())
	require.Equal(t, "fix it and save", s.Environment.Problems()[0].GetNextStep())
	require.Equal(t, deckv1.Component_STATE_FAILED, components(s)["plugin x"].GetState())
	s.Environment.SetComponent(&deckv1.Component{Name: "plugin x", State: deckv1.Component_STATE_STARTING,
		Detail: "compiling"})
	require.Len(t, s.Environment.Problems(), 1, "nothing is better before it compiles")
	s.Environment.SetComponent(&deckv1.Component{Name: "plugin x", State: deckv1.Component_STATE_READY})
	require.Empty(t, s.Environment.Problems())
}

func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{Problems: 3})
	for i := range 10 {
		s.Environment.SetProblem(store.Problem{Part: fmt.Sprint(i), Reason: strings.Repeat("ü", 10_000)})
	}
	require.Len(t, s.Environment.Problems(), 3)
	require.Less(t, len(s.Environment.Problems()[0].GetReason()), 3000)
	require.NotEmpty(t, s.Environment.Problems()[0].GetNextStep(), "there always is one")
}

func TestProblemsOfAPipedAreReplacedByItsNextReport(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	ready(s, "repository", "piped")
	s.Pipeds.Add("piped-2", "other", "", store.KeyHash{})
	report := func(id string, parts ...string) {
		var problems []*agentv1.Problem
		for _, part := range parts {
			problems = append(problems, &agentv1.Problem{Part: part, Reason: "why", NextStep: "what"})
		}
		require.NoError(t, s.Pipeds.ReportHealth(id, problems))
	}
	parts := func() (list []string) {
		for _, p := range s.Environment.Problems() {
			list = append(list, p.GetPart()+" <"+p.GetComponent()+">")
		}
		return list
	}
	report(piped, "plugin wait", "repository sample")
	report("piped-2", "plugin wait")
	require.Equal(t, []string{"plugin wait <piped>", "repository sample <repository>", "plugin wait of piped other <>"},
		parts())
	report(piped, "repository sample")
	require.Equal(t, []string{"repository sample <repository>", "plugin wait of piped other <>"}, parts())
	require.Equal(t, deckv1.Component_STATE_READY, components(s)["piped"].GetState())
	report("piped-2")
	report(piped)
	require.Empty(t, parts())
}

func TestASilentPipedIsAProblemUntilItCalls(t *testing.T) {
	t.Parallel()
	s, clock := newStore(store.Limits{})
	ready(s, "piped")
	due := store.HeartbeatCheck
	pass := func(d time.Duration) { // checks as often as the store wants it
		for ; d >= due; due = s.Pipeds.Check() {
			clock.advance(due)
			d -= due
		}
		clock.advance(d)
		due -= d
	}
	pass(time.Minute)
	require.Empty(t, s.Environment.Problems(), "it was never there")

	s.Pipeds.Saw(piped)
	s.Pipeds.OwnStarted(4711)
	require.NoError(t, s.Pipeds.ReportHealth(piped, nil))
	w, err := s.Pipeds.Watch(piped, store.Abilities{})
	require.NoError(t, err)
	defer w.Close()
	pass(11 * time.Second)
	require.Empty(t, s.Environment.Problems())
	pass(3 * time.Second)
	require.Len(t, s.Environment.Problems(), 1, "its connection stands, but it does not answer")
	require.Contains(t, s.Environment.Problems()[0].GetNextStep(), "kill -9 4711")
	require.Equal(t, deckv1.Component_STATE_DEGRADED, components(s)["piped"].GetState())
	s.Pipeds.Saw(piped)
	require.Empty(t, s.Environment.Problems())

	clock.advance(time.Hour)
	due = s.Pipeds.Check()
	pass(11 * time.Second)
	require.Empty(t, s.Environment.Problems(), "this process was suspended itself and cannot know yet")
	pass(3 * time.Second)
	require.Len(t, s.Environment.Problems(), 1)
}

func TestPipedsThatCallAreCheckedSeldomAndThoseThatDoNotEverySecond(t *testing.T) {
	t.Parallel()
	s, clock := newStore(store.Limits{})
	require.Equal(t, 5*time.Second, s.Pipeds.Check(), "none has called yet")
	s.Pipeds.Saw(piped)
	require.NoError(t, s.Pipeds.ReportHealth(piped, nil))
	require.Equal(t, 5*time.Second, s.Pipeds.Check())
	clock.advance(5 * time.Second)
	require.Equal(t, 5*time.Second, s.Pipeds.Check())
	clock.advance(5 * time.Second)
	require.Equal(t, 2*time.Second, s.Pipeds.Check(), "it is silent then")
	clock.advance(2 * time.Second)
	require.Equal(t, time.Second, s.Pipeds.Check())
	require.Empty(t, s.Environment.Problems())
	clock.advance(time.Second)
	require.Equal(t, time.Second, s.Pipeds.Check())
	require.Len(t, s.Environment.Problems(), 1)
	s.Pipeds.Saw(piped)
	require.Equal(t, 5*time.Second, s.Pipeds.Check())
	clock.advance(time.Millisecond)
	s.Pipeds.Refused(piped)
	require.Equal(t, time.Second, s.Pipeds.Check(), "its credentials may be right again")
}

func TestAPipedWithoutHeartbeatsCountsByItsConnectionOrItsCalls(t *testing.T) {
	t.Parallel()
	s, clock := newStore(store.Limits{})
	s.Pipeds.Check()
	s.Pipeds.Saw(piped)
	w, err := s.Pipeds.Watch(piped, store.Abilities{})
	require.NoError(t, err)
	for range 60 {
		clock.advance(time.Second)
		s.Pipeds.Check()
	}
	require.Empty(t, s.Environment.Problems(), "an older piped of ours says nothing while nothing happens")
	w.Close()
	for range 14 {
		clock.advance(time.Second)
		s.Pipeds.Check()
	}
	require.Len(t, s.Environment.Problems(), 1)
}

func TestARefusedPipedIsAProblem(t *testing.T) {
	t.Parallel()
	s, clock := newStore(store.Limits{})
	s.Pipeds.Check()
	s.Pipeds.Refused(piped)
	require.Contains(t, s.Environment.Problems()[0].GetReason(), "refuses its calls")
	for range 70 {
		clock.advance(time.Second)
		s.Pipeds.Check()
	}
	require.Empty(t, s.Environment.Problems(), "an unknown piped tried once and was never let in")

	s.Pipeds.Saw(piped)
	clock.advance(time.Second)
	require.NoError(t, s.Pipeds.SetDisabled(piped, true))
	s.Pipeds.Refused(piped)
	require.Contains(t, s.Environment.Problems()[0].GetNextStep(), "pipectl piped enable")
	require.NoError(t, s.Pipeds.SetDisabled(piped, false))
	clock.advance(time.Second)
	s.Pipeds.Saw(piped)
	require.Empty(t, s.Environment.Problems())
}

func TestAFullDiskIsOneProblem(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	sub, _ := s.Subscribe(false)
	defer sub.Close()
	parts := func() (found []string) {
		for _, p := range s.Environment.Problems() {
			found = append(found, p.GetPart())
		}
		return found
	}
	history := store.Problem{Part: "history", Reason: "cannot write the history: no space left on device",
		Cause: store.PartDisk}
	s.Environment.SetProblem(history)
	require.Equal(t, []string{"history"}, parts(), "nothing explains it yet")
	require.NoError(t, s.Pipeds.ReportHealth(piped, []*agentv1.Problem{
		{Part: "disk", Reason: "the disk of piped is full"},
		{Part: "trigger", Reason: "not everything could be triggered: rpc error: code = Unavailable desc = " +
			history.Reason},
		{Part: "repository local", Reason: "copy commit: " + syscall.ENOSPC.Error()},
		{Part: "plugin wait", Reason: "it ended"},
	}))
	require.ElementsMatch(t, []string{"history", "disk", "repository local", "plugin wait"}, parts())
	s.Environment.SetProblem(store.Problem{Part: store.PartDisk, Reason: "the disk is full"})
	require.ElementsMatch(t, []string{"plugin wait", "disk"}, parts())
	require.Len(t, s.Environment.Problems(), 2)

	s.Environment.ClearProblem(store.PartDisk)
	require.ElementsMatch(t, []string{"history", "disk", "repository local", "plugin wait"}, parts(),
		"what still fails is shown again")
	s.Environment.ClearProblem("history")
	require.ElementsMatch(t, []string{"disk", "trigger", "repository local", "plugin wait"}, parts())
	require.NoError(t, s.Pipeds.ReportHealth(piped, nil))
	require.Empty(t, s.Environment.Problems())

	seen := map[string]bool{}
	changes, err := sub.Next(t.Context())
	require.NoError(t, err)
	for _, c := range changes {
		switch {
		case c.Problem != nil:
			seen[c.Problem.GetId()] = true
		case c.RemovedProblem != "":
			require.True(t, seen[c.RemovedProblem], "%s is removed after it was shown", c.RemovedProblem)
			delete(seen, c.RemovedProblem)
		}
	}
	require.Empty(t, seen, "watchers see the same list")
}

func TestAMistakeInAConfigurationIsNoFaultOfPiped(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	ready(s, "repository", "piped")
	require.NoError(t, s.Pipeds.ReportHealth(piped, []*agentv1.Problem{
		{Part: "configuration of web", Reason: "unknown key", ApplicationId: "a", Configuration: true},
		{Part: "configuration of new.pipecd.yaml in repository r", Reason: "no name", Configuration: true},
	}))
	require.Len(t, s.Environment.Problems(), 2)
	for _, p := range s.Environment.Problems() {
		require.Empty(t, p.GetComponent(), p.GetPart())
	}
	require.Equal(t, deckv1.Component_STATE_READY, components(s)["piped"].GetState())
}

func TestALineThatAnnouncesTheNextOneIsJoinedWithIt(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	s.Environment.SetProblem(store.Problem{Part: "a",
		Reason: "go: cannot find main module\n\tto create a module there, run:\n\tgo mod init\n\nnext"})
	require.Equal(t, "go: cannot find main module; to create a module there, run: go mod init; next",
		s.Environment.Problems()[0].GetReason())
}

func TestNextStepsNameTheEnvironment(t *testing.T) {
	t.Parallel()
	s := store.New(store.Options{ProjectID: "project", OwnPiped: "piped", Flags: " --name demo"})
	s.Pipeds.Add("piped", "default", "", store.KeyHash{})
	s.Environment.SetProblem(store.Problem{Part: "history", NextStep: "end it with: pipedeck down"})
	require.NoError(t, s.Pipeds.ReportHealth("piped", []*agentv1.Problem{
		{Part: "plugin wait", Reason: "quarantined", NextStep: "fix it, or run: pipedeck restart wait"},
	}))
	s.Environment.SetComponent(&deckv1.Component{
		Name: "kubernetes", State: deckv1.Component_STATE_FAILED, Hint: "run pipedeck up again",
	})
	var steps []string
	for _, p := range s.Environment.Problems() {
		steps = append(steps, p.GetNextStep())
	}
	require.ElementsMatch(t, []string{
		"end it with: pipedeck down --name demo", "fix it, or run: pipedeck restart --name demo wait",
		"run pipedeck up --name demo again",
	}, steps)
}

func TestReasonsNameTheEnvironment(t *testing.T) {
	t.Parallel()
	s := store.New(store.Options{ProjectID: project, OwnPiped: piped, Flags: " --name demo"})
	s.Pipeds.Add(piped, "p1", "", store.KeyHash{})
	importApplication(s, "a", nil)
	const (
		reason = "no plugin; or run: pipedeck restart wait"
		want   = "no plugin; or run: pipedeck restart --name demo wait"
	)
	stage := run(t, s, "d", "a")
	require.NoError(t, s.Deployments.ReportStatus(piped, "d", model.DeploymentStatus_DEPLOYMENT_RUNNING, reason))
	failure := stageReport("d", stage, model.StageStatus_STAGE_FAILURE, 0)
	failure.StatusReason = reason
	require.NoError(t, s.Deployments.ReportStage(piped, failure))
	known, err := s.Deployments.Get("d")
	require.NoError(t, err)
	require.Equal(t, want, known.Model.GetStatusReason())
	require.Equal(t, want, known.Model.GetStages()[0].GetStatusReason())
	require.NoError(t, s.Deployments.ReportCompleted(piped, &pipedservice.ReportDeploymentCompletedRequest{
		DeploymentId: "d", Status: model.DeploymentStatus_DEPLOYMENT_FAILURE,
		StatusReason: known.Model.GetStatusReason(),
	}))
	known, err = s.Deployments.Get("d")
	require.NoError(t, err)
	require.Equal(t, want, known.Model.GetStatusReason(), "once, also when piped repeats it")
	require.NoError(t, s.Applications.ReportSyncState(piped, "a", &model.ApplicationSyncState{Reason: reason}))
	require.Equal(t, want, applicationsOf(s, piped)[0].GetSyncState().GetReason())
	s.Environment.SetProblem(store.Problem{Part: "plugin wait", Reason: reason})
	require.Equal(t, want, s.Environment.Problems()[0].GetReason())
}
