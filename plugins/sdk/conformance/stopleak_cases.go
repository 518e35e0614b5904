// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// stopLeakCases are about what stages and questions leave behind that do not end as usual.
func stopLeakCases() []Case {
	const why = "each of them leaves something in a process that serves for weeks, until it fails"
	return []Case{{
		ID: "leaks.cancelled", Capability: Process, Why: why,
		Title: "open files, threads and goroutines do not grow with stages that are cancelled",
		Next:  "release in a defer what a stage holds, and give channels of its threads room for what no one receives",
		run:   func(p *probe) error { return accumulates(p, "cancelled stages", 2*rounds, cancelOne, true) },
	}, {
		ID: "leaks.refused", Capability: Process, Why: why,
		Title: "open files, threads and goroutines do not grow with stages that fail",
		Next:  "release in a defer what a stage holds, before its first check",
		run:   func(p *probe) error { return accumulates(p, "stages with wrong options", rounds, refuseOne, true) },
	}, {
		ID: "leaks.questions", Capability: Process, Why: why,
		Title: "open files, threads and goroutines do not grow with questions about live state and plans",
		Next:  "end watches, tickers and connections of a question with its answer; piped asks every minute",
		run:   func(p *probe) error { return accumulates(p, "rounds of questions", rounds, questionOne, false) },
	}}
}

// keptKind is what a process may pile up.
type keptKind struct {
	what  string
	count func(*probe, *session) (int, bool)
	// pooled says that pools of it are usual, which grow up to a bound.
	pooled bool
}

var (
	keptFiles = keptKind{what: "open files", count: func(_ *probe, x *session) (int, bool) {
		return descriptors(x.process.command.Process.Pid)
	}}
	keptThreads = keptKind{what: "threads", pooled: true, count: func(_ *probe, x *session) (int, bool) {
		return threads(x.process.command.Process.Pid)
	}}
	keptGoroutines = keptKind{what: "goroutines", count: goroutines}

	kept = []keptKind{keptFiles, keptThreads, keptGoroutines}
)

// accumulates compares counts before and after a work was done many times. The first rounds fill pools.
func accumulates(p *probe, what string, times int, work func(*probe, *session, int) error, ofStage bool) error {
	if ofStage {
		if _, err := p.settled(); err != nil {
			return err
		}
		if len(p.suite.options.Settings.DeployTargets) > 0 {
			return skip("its deploy targets are shared, so its stages run one after another here")
		}
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	const slow = 6 * time.Second
	began := time.Now()
	if err := repeat(p, x, leaksAtOnce, work); err != nil {
		return err
	}
	if time.Since(began) > slow {
		return skip("%s take too long to be done %d times", what, times)
	}
	return piles(p, x, pile{what: what, times: times, some: times / grownShare, of: kept}, func() error {
		return repeat(p, x, times, work)
	})
}

// grownShare is the part of the times a work is done that has to leave something for it to count.
const grownShare = 6

// mostRounds is how often a work is repeated while something of it grows. A pool grows until it is full, for example
// the threads of a ThreadPoolExecutor, which makes one when none is free; a leak grows in each round.
const mostRounds = 6

// largestPool is up to how many threads of a process may be a pool.
const largestPool = 128

// pile is what may grow with a work that is done some times in each round.
type pile struct {
	what  string
	times int
	// some is what a round has to leave for it to count.
	some int
	of   []keptKind
}

// piles repeats a round of work until a round leaves nothing. What grows in all rounds is left behind.
func piles(p *probe, x *session, of pile, round func() error) error {
	var first, before, after []int
	for done := 1; ; done++ {
		p.pause(300 * time.Millisecond)
		before = countsOf(p, x, of.of)
		if first == nil {
			first = before
		}
		if err := round(); err != nil {
			return err
		}
		after = settledCounts(p, x, of, before)
		of.of, first, after = growing(of, first, before, after)
		if len(of.of) == 0 {
			return x.alive()
		}
		if done == mostRounds {
			break
		}
	}
	kind, grown := of.of[0], after[0]-first[0]
	seen := fmt.Sprintf("%d %s left %d %s behind: %d before, %d after", mostRounds*of.times, of.what, grown, kind.what,
		first[0], after[0])
	if kind.pooled && after[0] <= largestPool {
		return note("%s; they grew in each of %d rounds, and may be a pool that is not full yet", seen, mostRounds)
	}
	return errors.New(seen)
}

// growing leaves those that have grown in the round, with their counts at first and after it.
func growing(of pile, first, before, after []int) (kinds []keptKind, firstOf, afterOf []int) {
	for i, kind := range of.of {
		if before[i] > 0 && after[i] >= before[i]+of.some {
			kinds, firstOf, afterOf = append(kinds, kind), append(firstOf, first[i]), append(afterOf, after[i])
		}
	}
	return kinds, firstOf, afterOf
}

func countsOf(p *probe, x *session, of []keptKind) []int {
	counts := make([]int, len(of))
	for i, k := range of {
		counts[i], _ = k.count(p, x)
	}
	return counts
}

// settledCounts are those after a round. What ends a moment later is not left behind.
func settledCounts(p *probe, x *session, of pile, before []int) (after []int) {
	for range 20 {
		after = countsOf(p, x, of.of)
		if kinds, _, _ := growing(of, before, before, after); len(kinds) == 0 {
			break
		}
		p.pause(p.suite.bounds.Quiet / 10)
	}
	return after
}

// repeat does a work some times, a few at once.
func repeat(p *probe, x *session, times int, work func(*probe, *session, int) error) error {
	slots := make(chan struct{}, leaksAtOnce)
	errs := make([]error, times)
	var running sync.WaitGroup
	for i := range times {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			errs[i] = work(p, x, i)
		})
	}
	running.Wait()
	if died := x.alive(); died != nil {
		return died
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return p.ctx.Err()
}

// cancelOne ends a stage at its first request to piped, or on its way there.
func cancelOne(p *probe, x *session, i int) error {
	if i%2 == 0 {
		held, err := p.hold(x, order{})
		if err == nil {
			held.cancel()
			held.finish()
		}
		return err
	}
	const parts = 6
	_, err := x.execute(p, order{deadline: time.Millisecond + untilRequest(p)*time.Duration(i/2%parts)/parts})
	return err
}

// untilRequest is how long the stage takes to its first request to piped, or to its end.
func untilRequest(p *probe) time.Duration {
	first, err := p.settled()
	if err != nil {
		return 0
	}
	for _, c := range first.session.rec.of(first.id) {
		return c.at.Sub(first.began)
	}
	return first.took
}

// refuseOne runs a stage with options that no stage can take.
func refuseOne(p *probe, x *session, _ int) error {
	_, err := x.execute(p, order{edit: func(r *deployment.ExecuteStageRequest) {
		r.Input.StageConfig = []byte(`["not", "options"]`)
	}})
	return err
}

// questionOne asks what piped asks between stages. A refusal will do.
func questionOne(p *probe, x *session, _ int) error {
	for _, ask := range []sourceQuestion{askVersions, askStrategy, askLive, askPreview} {
		source, err := p.suite.sourceFor()
		if err != nil {
			return err
		}
		ctx, cancel := p.limit()
		_ = ask(p, ctx, x, source, source)
		cancel()
	}
	return p.ctx.Err()
}
