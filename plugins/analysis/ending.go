// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// saveWhenDue notes what has changed, at a bounded rate, and the elapsed time now and then. A note that is not taken in
// time does not hold the analysis up: metrics decide, and a later note has the same and more.
func (r *run) saveWhenDue(ctx context.Context) {
	now := r.clock.now()
	if age := now.Sub(r.saved); age < beat && (!r.dirty || age < saveEvery) {
		return
	}
	limited, cancel := context.WithTimeout(ctx, saveLimit)
	defer cancel()
	err := r.note(limited, now.Sub(r.seriesSaved) >= seriesEvery)
	if err != nil && ctx.Err() == nil && !r.unsaved {
		r.req.Log.Infof("The analysis goes on, but what it has found is not kept now: %v", err)
	}
	r.unsaved, r.saved = err != nil, now
}

// note writes the state as it is now.
func (r *run) note(ctx context.Context, withSeries bool) error {
	now := r.clock.now()
	r.state.elapsed = min(r.elapsed(), r.duration)
	r.progress()
	if err := r.state.save(ctx, r.req.Client, withSeries); err != nil {
		if ctx.Err() != nil {
			return sdk.StopCause(ctx)
		}
		return err
	}
	r.dirty, r.saved = false, now
	if withSeries {
		r.seriesSaved = now
	}
	return nil
}

// progressStep is the time after which progress is reported though nothing was evaluated.
func (r *run) progressStep() time.Duration { return max(r.duration/progressSteps, leastProgress) }

// progress reports how far the analysis is, when that has changed.
func (r *run) progress() {
	elapsed := min(r.elapsed(), r.duration)
	r.done.steps = int(elapsed / r.progressStep())
	if r.shown == r.done {
		return
	}
	r.shown = r.done
	text := fmt.Sprintf("%d evaluations", r.done.evaluated)
	if r.done.evaluated == 1 {
		text = "1 evaluation"
	}
	switch r.done.failures {
	case 0:
	case 1:
		text += ", 1 failure"
	default:
		text += fmt.Sprintf(", %d failures", r.done.failures)
	}
	r.req.Client.Progress(sdk.Progress{Done: int64(100 * elapsed / r.duration), Total: 100, Text: text})
}

// succeed ends the analysis when its time is over.
func (r *run) succeed(ctx context.Context) (sdk.Result, error) {
	if err := r.note(ctx, true); err != nil {
		return sdk.Failure, err
	}
	r.draw()
	if !r.dryRun {
		// That is when it began if it was not interrupted, and else what makes the last part of it comparable.
		start := r.clock.now().Add(-r.duration)
		if err := putStart(ctx, r.req.Client, r.req.Deployment.Application.ID, start); err != nil {
			return sdk.Failure, err
		}
	}
	if r.dryRun && r.done.failures > 0 {
		r.req.Log.Successf("The dry run of the analysis is over: %d of %d evaluations failed", r.done.failures,
			r.done.evaluated)
		return sdk.Success, nil
	}
	r.conclude()
	return sdk.Success, nil
}

// conclude logs the result of an analysis that has not failed, and what it has not verified.
func (r *run) conclude() {
	text, without := fmt.Sprintf("%d of %d evaluations failed", r.done.failures, r.done.evaluated), 0
	warned := false
	for _, a := range r.analyzers {
		c := r.state.counts[a.name]
		without += c.NoData
		if finding := a.unverified(c); finding != "" {
			r.req.Log.Infof("Warning: %s: %s", a.name, finding)
			warned = true
		}
	}
	if without > 0 {
		text += fmt.Sprintf(" and %d had no data", without)
	}
	if warned {
		r.req.Log.Infof("The analysis is over, with the warnings above: %s in %s", text, r.duration)
		return
	}
	r.req.Log.Successf("The analysis succeeded: %s in %s", text, r.duration)
}

// fail ends the analysis after too many failures.
func (r *run) fail(ctx context.Context, cause error) error {
	r.draw()
	limited, cancel := context.WithTimeout(ctx, saveLimit)
	defer cancel()
	if err := r.note(limited, true); err != nil {
		r.req.Log.Errorf("The result of the analysis was not kept: %v", err)
	}
	return cause
}

func (r *run) skip(ctx context.Context, commander string) error {
	if err := r.note(ctx, true); err != nil {
		return err
	}
	r.draw()
	r.req.Log.Infof("%s skipped the rest of the analysis after %s", commander, r.state.elapsed.Round(time.Second))
	return r.req.Client.Display(ctx, "Skipped by "+commander)
}

// stopped notes how far the analysis is, for the next attempt, and returns why the context has ended.
func (r *run) stopped(ctx context.Context) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveLimit)
	defer cancel()
	if err := r.note(last, true); err != nil {
		r.req.Log.Errorf("How far the analysis is was not kept: %v", err)
	}
	return sdk.StopCause(ctx)
}

// draw writes a chart of each metric into the log.
func (r *run) draw() {
	for _, s := range r.state.series {
		if text := s.chart(); text != "" {
			r.req.Log.Info(text)
		}
	}
}
