// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
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

// kept are what a process may pile up.
var kept = []struct {
	what  string
	count func(*probe, *session) (int, bool)
}{
	{"open files", func(_ *probe, x *session) (int, bool) { return descriptors(x.process.command.Process.Pid) }},
	{"threads", func(_ *probe, x *session) (int, bool) { return threads(x.process.command.Process.Pid) }},
	{"goroutines", goroutines},
}

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
	for round := 0; ; round++ { // what grows once is a pool, such as the threads of a runtime on a busy machine
		p.pause(300 * time.Millisecond)
		before := countsOf(p, x)
		if err := repeat(p, x, times, work); err != nil {
			return err
		}
		grown := growth(p, x, before, times/grownShare)
		switch {
		case grown == "":
			return x.alive()
		case round > 0:
			return fmt.Errorf("%d %s left %s", times, what, grown)
		}
	}
}

// grownShare is the part of the times a work is done that has to leave something for it to count.
const grownShare = 6

func countsOf(p *probe, x *session) []int {
	counts := make([]int, len(kept))
	for i, k := range kept {
		counts[i], _ = k.count(p, x)
	}
	return counts
}

// growth says what there is more of than before, by at least some; empty for nothing. What ends a moment later is none.
func growth(p *probe, x *session, before []int, some int) (grown string) {
	for range 20 {
		grown = ""
		for i, after := range countsOf(p, x) {
			if before[i] > 0 && after >= before[i]+some {
				grown = fmt.Sprintf("%d %s behind: %d before, %d after", after-before[i], kept[i].what, before[i],
					after)
				break
			}
		}
		if grown == "" {
			return ""
		}
		p.pause(p.suite.bounds.Quiet / 10)
	}
	return grown
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
