// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/planner"
)

// handClock stands still at a time; its waits end when the test says so.
type handClock struct {
	now   time.Time
	waits chan time.Duration
	over  chan time.Time
}

func newHandClock() *handClock {
	return &handClock{now: time.Unix(1000, 0), waits: make(chan time.Duration, 1), over: make(chan time.Time)}
}

func (c *handClock) Now() time.Time { return c.now }

func (c *handClock) After(d time.Duration) <-chan time.Time {
	c.waits <- d
	return c.over
}

// never is for work that no debugger holds.
func never() time.Duration { return 0 }

func TestABudgetEndsTheWorkByTheClock(t *testing.T) {
	t.Parallel()
	c := newHandClock()
	b := newBudget(startTimes{first: c.now.Add(-time.Minute)}, time.Second, c, never)
	work, stop := b.begin(t.Context(), &Cancellation{})
	defer stop()
	b.limit(time.Hour)
	b.limit(time.Second) // only the first counts
	require.Equal(t, 59*time.Minute, <-c.waits, "the deployment has run for a minute")
	require.NoError(t, work.Err())
	c.over <- c.now
	<-work.Done()
	var timeout *TimeoutError
	require.ErrorAs(t, context.Cause(work), &timeout)
	require.Equal(t, time.Hour, timeout.After)
}

func TestABudgetEndsTheWorkWithACancellationAndWithItsStop(t *testing.T) {
	t.Parallel()
	var cancellation Cancellation
	b := newBudget(startTimes{}, time.Second, newHandClock(), never)
	work, stop := b.begin(t.Context(), &cancellation)
	cancellation.Cancel(&CancelledError{Commander: "carol"})
	<-work.Done()
	stop()
	var cancelled *CancelledError
	require.ErrorAs(t, context.Cause(work), &cancelled)

	work, stop = newBudget(startTimes{}, time.Second, newHandClock(), never).begin(t.Context(), &Cancellation{})
	stop()
	require.ErrorIs(t, context.Cause(work), context.Canceled)
}

func TestWhetherARollbackIsWanted(t *testing.T) {
	t.Parallel()
	stage := func(rollback bool, metadata map[string]string) *model.PipelineStage {
		return &model.PipelineStage{Rollback: rollback, Metadata: metadata}
	}
	onRequest := map[string]string{planner.RollbackMetadataKey: planner.RollbackOnRequest}
	for name, c := range map[string]struct {
		stages []*model.PipelineStage
		choice rollbackChoice
		want   bool
	}{
		"the plan has no rollback stage": {
			stages: []*model.PipelineStage{stage(false, nil)}, choice: choiceRollback,
		},
		"the application decides for it":     {stages: []*model.PipelineStage{stage(true, nil)}, want: true},
		"the application decides against it": {stages: []*model.PipelineStage{stage(true, onRequest)}},
		"the user wants it though the application does not": {
			stages: []*model.PipelineStage{stage(true, onRequest)}, choice: choiceRollback, want: true,
		},
		"the user does not want it though the application does": {
			stages: []*model.PipelineStage{stage(true, nil)}, choice: choiceNoRollback,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, rollbackWanted(c.stages, c.choice))
		})
	}
}

func TestAProgressKeepsTheFirstStartOfAStage(t *testing.T) {
	t.Parallel()
	began := time.Unix(500, 0)
	p := newProgress(&model.Deployment{Stages: []*model.PipelineStage{
		{Id: "a", Name: "A", Status: model.StageStatus_STAGE_RUNNING, UpdatedAt: began.Unix()}, {Id: "b", Name: "B"},
		{Id: "c", Name: "C", Rollback: true},
	}})
	a, b := p.deployment.GetStages()[0], p.deployment.GetStages()[1]
	require.Equal(t, "B", p.nextStage())
	p.takeUp(a, time.Unix(1000, 0), false)
	require.Equal(t, int32(1), a.GetRetriedCount())
	require.Equal(t, began, p.firstStart(a, time.Unix(1001, 0)), "under the piped before")
	require.Equal(t, time.Unix(1002, 0), p.firstStart(b, time.Unix(1002, 0)))
	require.Equal(t, time.Unix(1002, 0), p.firstStart(b, time.Unix(1003, 0)), "the second attempt")

	require.True(t, p.begunAny())
	p.set(b, model.StageStatus_STAGE_SUCCESS, "", time.Unix(1004, 0))
	require.Equal(t, int64(1004), b.GetCompletedAt())
	require.Empty(t, p.nextStage(), "a rollback stage is not next")
}
