// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const (
	// beat is the longest time between two notes of the elapsed time: a kill loses no more.
	beat = 15 * time.Second
	// saveEvery is the shortest time between two notes, seriesEvery the one between two notes of what charts show.
	saveEvery   = time.Second
	seriesEvery = 10 * time.Second
	// saveLimit bounds a note, the last one of a stage that has been stopped, too.
	saveLimit = 2 * time.Second
	// progressSteps are how often the elapsed time is reported at most, leastProgress is the least time between two.
	progressSteps = 20
	leastProgress = time.Second
	// maxQueries bounds the queries at one time.
	maxQueries = 16
)

// run is one attempt at a stage. All but the queries happens in one goroutine.
type run struct {
	clock     clock
	req       *sdk.StageRequest[config.Config]
	duration  time.Duration
	dryRun    bool
	analyzers []*analyzer
	state     *state
	// base is the elapsed time of earlier attempts, began the start of this one.
	base  time.Duration
	began time.Time

	// busy are the analyzers that are being evaluated, by their index.
	busy    map[int]bool
	results chan result
	places  chan struct{}
	queries sync.WaitGroup

	// dirty is whether there is something new to note, unsaved whether the last note was not taken.
	dirty, unsaved     bool
	saved, seriesSaved time.Time
	// done is how far it is now, shown what was reported of that last.
	done, shown progress
}

// progress is what users see of how far the analysis is. A new one is reported when it is another one.
type progress struct{ steps, evaluated, failures int }

// result is the outcome of one evaluation.
type result struct {
	index, number int
	at            moment
	outcome       outcome
}

func newRun(c clock, req *sdk.StageRequest[config.Config], options *config.Options, analyzers []*analyzer,
	kept *state) *run {
	former := map[string]*series{}
	for _, s := range kept.series {
		former[s.Name] = s
	}
	kept.series = nil
	evaluated, failures := 0, 0
	for _, a := range analyzers {
		s := &series{Name: a.name, Query: clipped(a.about), Strategy: a.strategy, Min: a.min, Max: a.max}
		if old := former[a.name]; old != nil {
			s.Points = old.Points
		}
		kept.series = append(kept.series, s)
		evaluated += kept.counts[a.name].Evaluations
		failures += kept.counts[a.name].Failures
	}
	now := c.now()
	return &run{
		clock: c, req: req, duration: options.Duration.Std(), dryRun: options.DryRun, analyzers: analyzers, state: kept,
		base: kept.elapsed, began: now, busy: map[int]bool{}, results: make(chan result, len(analyzers)),
		places: make(chan struct{}, maxQueries), saved: now, seriesSaved: now,
		done: progress{evaluated: evaluated, failures: failures}, shown: progress{steps: -1},
	}
}

// execute runs until the end of the analysis and leaves no query behind.
func (r *run) execute(ctx context.Context) (sdk.Result, error) {
	queries, cancel := context.WithCancel(ctx)
	defer r.queries.Wait()
	defer cancel()
	// The first note says that the analysis has begun: a stage that is killed before its first result goes on, too.
	if err := r.note(ctx, false); err != nil {
		return sdk.Failure, err
	}
	commands := r.req.Client.Commands(queries)
	for {
		r.startDue(queries)
		if r.finished() {
			return r.succeed(ctx)
		}
		select {
		case ended := <-r.results:
			if err := r.take(ended); err != nil {
				return sdk.Failure, r.fail(ctx, err)
			}
		case <-r.clock.after(r.wait()):
		case command, ok := <-commands:
			if !ok {
				return sdk.Failure, r.stopped(ctx)
			}
			if command.Operation == sdk.OperationSkip {
				return sdk.Skipped, r.skip(ctx, command.Commander)
			}
		case <-ctx.Done():
			return sdk.Failure, r.stopped(ctx)
		}
		r.saveWhenDue(ctx)
		r.progress()
	}
}

func (r *run) elapsed() time.Duration { return r.base + r.clock.now().Sub(r.began) }

// dueIn is the time until the next evaluation of an analyzer; over when there is none any more.
func (r *run) dueIn(a *analyzer, elapsed time.Duration) (left time.Duration, over bool) {
	c := r.state.counts[a.name]
	at := time.Duration(c.Next) * a.interval
	return at - elapsed, c.Over || at > r.duration
}

// startDue begins the evaluations that are due. Of several that one analyzer has missed, it begins the last.
func (r *run) startDue(ctx context.Context) {
	elapsed := r.elapsed()
	for i, a := range r.analyzers {
		left, over := r.dueIn(a, elapsed)
		if over || r.busy[i] || left > 0 {
			continue
		}
		c := r.state.counts[a.name]
		number := c.Next
		if last := int(min(elapsed, r.duration) / a.interval); number > 0 {
			number = max(number, last)
		}
		r.busy[i] = true
		at := moment{now: r.clock.now(), elapsed: min(elapsed, r.duration)}
		r.queries.Go(func() {
			select {
			case r.places <- struct{}{}:
				defer func() { <-r.places }()
			case <-ctx.Done():
				return
			}
			ended := result{index: i, number: number, at: at, outcome: a.safely(ctx, at)}
			if ctx.Err() == nil {
				r.results <- ended // has room for one of each
			}
		})
	}
}

// finished reports whether the time is over and nothing is left to evaluate.
func (r *run) finished() bool {
	elapsed := r.elapsed()
	if elapsed < r.duration || len(r.busy) > 0 {
		return false
	}
	for _, a := range r.analyzers {
		if _, over := r.dueIn(a, elapsed); !over {
			return false
		}
	}
	return true
}

// wait is the time until something is due.
func (r *run) wait() time.Duration {
	elapsed, wait := r.elapsed(), beat
	wait = min(wait, r.progressStep()-elapsed%r.progressStep())
	if left := r.duration - elapsed; left > 0 {
		wait = min(wait, left)
	}
	for i, a := range r.analyzers {
		if left, over := r.dueIn(a, elapsed); !over && !r.busy[i] {
			wait = min(wait, max(left, 0))
		}
	}
	if r.dirty {
		wait = min(wait, max(r.saved.Add(saveEvery).Sub(r.clock.now()), 0))
	}
	return wait
}

// take counts and logs a result. The error says that there are too many failures.
func (r *run) take(ended result) error {
	delete(r.busy, ended.index)
	a, o := r.analyzers[ended.index], ended.outcome
	failure, why := a.counts(o, ended.number == 0)
	c := r.state.counts[a.name]
	c.Next, c.Over = ended.number+1, o.over
	c.Evaluations++
	r.done.evaluated++
	if failure {
		c.Failures++
		r.done.failures++
	}
	if o.verdict == noData {
		c.NoData++
	}
	r.state.counts[a.name] = c
	r.keepPoint(ended)
	r.dirty = true

	line := fmt.Sprintf("%s: %s: %s", a.name, o.verdict, o.text)
	if why != "" {
		line += "; " + why
	}
	if failure {
		r.req.Log.Errorf("%s; failure %d, failureLimit %d; query: %s", line, c.Failures, a.failureLimit, a.about)
	} else {
		r.req.Log.Infof("%s; query: %s", line, a.about)
	}
	r.state.remark(r.req.Log, a.name, o.remarks)
	if c.Failures <= a.failureLimit {
		return nil
	}
	err := fmt.Errorf("%s has failed %s, more than its failureLimit %d: %s", a.name, times(c.Failures), a.failureLimit,
		o.text)
	if !r.dryRun {
		return err
	}
	if failure {
		r.req.Log.Infof("Dry run: the stage would fail here: %v", err)
	}
	return nil
}

func (r *run) keepPoint(ended result) {
	p := point{Empty: true}
	if ended.outcome.shown != nil {
		p = *ended.outcome.shown
	}
	p.At, p.Verdict = ended.at.now.Unix(), ended.outcome.verdict
	r.state.series[ended.index].add(p, max(min(maxPointsEach, maxShownPoints/len(r.analyzers)), 1))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func clipped(text string) string {
	if len(text) > maxShownQuery {
		return text[:maxShownQuery]
	}
	return text
}
