// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"
)

// verdict is the result of one evaluation.
type verdict string

const (
	good   verdict = "good"
	bad    verdict = "bad"
	noData verdict = "no data"
	failed verdict = "query failed"
)

// moment is when something is evaluated: now, and how far the analysis is.
type moment struct {
	now     time.Time
	elapsed time.Duration
}

// outcome is what one evaluation has found.
type outcome struct {
	verdict verdict
	// text is the value, what is expected of it, and what that means.
	text string
	// points are what a chart shows of it; nil when there is no value.
	shown *point
	// remarks are what the service has to say about its answer.
	remarks []string
	// over is whether nothing is left to evaluate in this analysis.
	over bool
}

// analyzer is one metric or request of a stage.
type analyzer struct {
	// name is its place in the stage: metrics[0].
	name string
	// about is the query, with its variables filled in.
	about        string
	strategy     string
	min, max     *float64
	interval     time.Duration
	failureLimit int
	skipOnNoData bool
	// looksBack is whether an evaluation asks about the interval before it.
	looksBack bool
	// doubt is why it can never fail, in words.
	doubt    string
	evaluate func(context.Context, moment) outcome
}

// counts reports whether an outcome is a failure, and in words why one without data is none. first is that of the
// evaluation with which the analysis begins.
func (a *analyzer) counts(o outcome, first bool) (failure bool, why string) {
	switch o.verdict {
	case good:
		return false, ""
	case noData:
		switch {
		case a.skipOnNoData:
			return false, "not a failure: skipOnNoData is set"
		case first && a.looksBack:
			return false, "not a failure: the first query asks about the time before the stage"
		}
	}
	return true, ""
}

// unverified is in words why the success of an analysis says nothing about the entry; "" when it says something.
func (a *analyzer) unverified(c counts) string {
	switch n := c.Evaluations; {
	case n == 0:
		return "it was not evaluated: nothing was verified"
	case c.Over:
		return "there was no earlier successful analysis to compare with: nothing was verified"
	case c.NoData == n && c.Failures == n:
		return fmt.Sprintf("no evaluation had data: nothing was verified, and failureLimit %d allows all %d to fail",
			a.failureLimit, n)
	case c.NoData == n:
		return "no evaluation had data: nothing was verified"
	case c.Failures == n:
		return fmt.Sprintf("all %d evaluations failed, which failureLimit %d allows", n, a.failureLimit)
	}
	return a.doubt
}

// safely makes a failed query of a panic, which would end the plugin with the stages of all others.
func (a *analyzer) safely(ctx context.Context, at moment) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{verdict: failed, text: fmt.Sprintf("the plugin has a defect: %v", p)}
		}
	}()
	return a.evaluate(ctx, at)
}
