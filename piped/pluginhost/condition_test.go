// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

func fakeProcess() *process {
	p := &process{plugin: "p"}
	p.ending.exited = make(chan struct{})
	return p
}

func TestAConditionAnnouncesEachChangeAndSaysWhyNoProcessAnswers(t *testing.T) {
	t.Parallel()
	changes := newBroadcast()
	c := newCondition("p", changes)
	for _, change := range []struct {
		make func()
		want string // of the error of a call
	}{
		{func() { c.set(agentv1.Plugin_STATE_STARTING, "downloading") }, "is starting"},
		{func() { c.fail(agentv1.Plugin_STATE_FAILED, "no binary", problem{reason: "no binary"}) }, "has failed"},
		{func() { c.set(agentv1.Plugin_STATE_STOPPED, "piped is stopping") }, "is stopped"},
	} {
		next := changes.next()
		change.make()
		<-next
		err := c.check()
		var down *NotRunningError
		require.ErrorAs(t, err, &down)
		require.Equal(t, change.want, down.State)
	}
	require.True(t, c.hasSettled())
	require.Equal(t, agentv1.Plugin_STATE_STOPPED, c.now())
}

func TestAWaitForAPluginEndsWhenItAnswersOrHasFailed(t *testing.T) {
	t.Parallel()
	c := newCondition("p", newBroadcast())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorContains(t, c.await(ctx), "is starting")

	waited := make(chan error, 1)
	go func() { waited <- c.await(t.Context()) }()
	c.change(func() { c.process, c.ready = fakeProcess(), true })
	require.NoError(t, <-waited)

	c.ended(c.process)
	go func() { waited <- c.await(t.Context()) }()
	c.fail(agentv1.Plugin_STATE_FAILED, "no binary", problem{reason: "no binary", nextStep: "build it"})
	require.ErrorContains(t, <-waited, "no binary")
}

func TestACallHoldsItsProcessUnlessItOnlyWaitsForChanges(t *testing.T) {
	t.Parallel()
	c := newCondition("p", newBroadcast())
	proc := fakeProcess()
	c.change(func() { c.process, c.ready = proc, true })
	_, done, err := c.hold(deployment.DeploymentService_ExecuteStage_FullMethodName, nil)
	require.NoError(t, err)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		proc.calls.Wait()
	}()
	select {
	case <-finished:
		t.Fatal("the process may be stopped during the call")
	default:
	}
	done()
	<-finished

	_, _, err = c.hold(livestate.LivestateChangeService_AwaitChanges_FullMethodName, nil)
	require.NoError(t, err)
	proc.calls.Wait()

	proc.ending.stopping.Store(true)
	_, _, err = c.hold(deployment.DeploymentService_ExecuteStage_FullMethodName, nil)
	require.Error(t, err, "a process that is being stopped gets no call")
}

func TestAProblemOfASlowStartIsReportedAfterAWhile(t *testing.T) {
	t.Parallel()
	c := newCondition("p", newBroadcast())
	require.Zero(t, c.currentProblem(time.Now()))
	c.fail(agentv1.Plugin_STATE_RESTARTING, "it ended", restarting("p", errors.New("exit 7")))
	require.Equal(t, "read its output: pipedeck logs --plugin p", c.currentProblem(time.Now()).nextStep)
}

func TestCrashesAreCountedApartFromEndsThatAreBlamedOnInputs(t *testing.T) {
	t.Parallel()
	var c crashes
	for i := range crashLimit {
		count, quarantined := c.count(false)
		require.Equal(t, i+1, count)
		require.Equal(t, i+1 == crashLimit, quarantined)
	}
	for i := range blamedLimit {
		count, quarantined := c.count(true)
		require.Equal(t, i+1, count)
		require.Equal(t, i+1 == blamedLimit, quarantined)
	}
	c.forget()
	count, quarantined := c.count(false)
	require.Equal(t, 1, count)
	require.False(t, quarantined)
	c.ends[0] = time.Now().Add(-crashWindow - time.Second)
	count, _ = c.count(false)
	require.Equal(t, 1, count, "an old end does not count")
}

func TestRestartsAreShownWithTheirTimes(t *testing.T) {
	t.Parallel()
	c := newCondition("p", newBroadcast())
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range maxRestarts + 2 {
		p := fakeProcess()
		p.started = begin.Add(time.Duration(i) * time.Second)
		c.began(p)
	}
	c.ended(c.process)
	s := &agentv1.Plugin{}
	c.status(s)
	require.EqualValues(t, maxRestarts+1, s.GetRestarts())
	require.Len(t, s.GetRestartedAt(), maxRestarts)
	require.True(t, begin.Add((maxRestarts+1)*time.Second).Equal(s.GetRestartedAt()[maxRestarts-1].AsTime()))
}

// A program that answers with an error for its stages, as one does under load, is shown with the error alone.
func TestTheReasonOfAPluginThatFailsIsInPlainWords(t *testing.T) {
	t.Parallel()
	c := newCondition("wait", newBroadcast())
	err := fmt.Errorf("ask plugin %q for its stages: %w", "wait",
		status.Error(codes.DeadlineExceeded, "no answer in time"))
	c.fail(agentv1.Plugin_STATE_RESTARTING, err.Error(), restarting("wait", err))
	require.Equal(t, `ask plugin "wait" for its stages: no answer in time`, c.detail)
	require.Equal(t, `it ended and is started again: ask plugin "wait" for its stages: no answer in time`,
		c.problem.reason)
}
