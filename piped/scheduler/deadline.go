// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/clock"
)

// startTimes say how much time a stage or a deployment has left. Time goes on while no piped runs, as users read it on
// the wall.
type startTimes struct {
	// first is when it was started first, by whichever piped.
	first time.Time
	// began is when the last attempt of an earlier piped began, returned when this one took it up; both are
	// zero when no earlier piped had it.
	began, returned time.Time
}

// left is what remains of timeout. When the time ran out while no piped was there, the piped that comes
// back gets chance, once, for what was decided meanwhile: an approval may wait, or what the stage waits
// for may have come. Another restart gets no more, as far as the control plane keeps when attempts begin;
// PipeCD's does not.
func (c startTimes) left(timeout, chance time.Duration, now time.Time) time.Duration {
	end := c.first.Add(timeout)
	if !c.returned.IsZero() && !end.After(c.returned) && c.began.Before(end) {
		end = c.returned.Add(min(chance, timeout))
	}
	return end.Sub(now)
}

// timesOf returns the times of a deployment. Its time starts when the deployment is taken up here, or for one that an
// earlier piped has begun, when that was planned, which its stages show.
func timesOf(d *model.Deployment, now time.Time) startTimes {
	if d.GetStatus() != model.DeploymentStatus_DEPLOYMENT_RUNNING {
		return startTimes{first: now}
	}
	planned, began := d.GetCreatedAt(), int64(0)
	for _, stage := range d.GetStages() {
		planned = max(planned, stage.GetCreatedAt())
		if stage.GetStatus() == model.StageStatus_STAGE_RUNNING {
			began = max(began, stage.GetUpdatedAt())
		}
	}
	return startTimes{first: time.Unix(planned, 0), began: time.Unix(began, 0), returned: now}
}

// takenUp returns the times of a stage that ran when an earlier piped ended. The reports of a running stage
// carry its first start where those of an ended one have its end: PipeCD v1 sends the time of the report
// there, and control planes keep it.
func takenUp(stage *model.PipelineStage, now time.Time) startTimes {
	first := cmp.Or(stage.GetCompletedAt(), stage.GetUpdatedAt(), now.Unix())
	return startTimes{first: time.Unix(first, 0), began: time.Unix(stage.GetUpdatedAt(), 0), returned: now}
}

// budget ends the work of a deployment when its time is over.
type budget struct {
	times startTimes
	// chance is what is left when the time ran out while no piped was there.
	chance time.Duration
	clock  clock.Clock
	// held is how long debuggers have held plugins in all so far, which the time stands still for.
	held func() time.Duration

	once sync.Once
	// timeout has the deployment's timeout, once the configuration that names it has been read.
	timeout chan time.Duration
}

func newBudget(times startTimes, chance time.Duration, clock clock.Clock, held func() time.Duration) *budget {
	return &budget{times: times, chance: chance, clock: clock, held: held, timeout: make(chan time.Duration, 1)}
}

// limit sets the timeout. Only the first call counts.
func (b *budget) limit(after time.Duration) { b.once.Do(func() { b.timeout <- after }) }

// begin returns a context for the work, which ends with ctx, with a cancellation and with the timeout of the
// deployment; its cause says which.
func (b *budget) begin(ctx context.Context, cancellation *Cancellation) (work context.Context, stop func()) {
	work, cancel := context.WithCancelCause(ctx)
	unwatch := cancellation.onCancel(func(by *CancelledError) { cancel(by) })
	var waiting sync.WaitGroup
	before := b.held()
	held := func() time.Duration { return b.held() - before }
	waiting.Go(func() {
		select {
		case after := <-b.timeout:
			if clock.WaitHeld(work, b.clock, b.times.left(after, b.chance, b.clock.Now()), held) == nil {
				cancel(&TimeoutError{What: "the deployment", After: after})
			}
		case <-work.Done():
		}
	})
	return work, func() {
		unwatch()
		cancel(context.Canceled)
		waiting.Wait()
	}
}
