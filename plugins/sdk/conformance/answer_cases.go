// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

func answerCases() []Case {
	const next = "wait for all threads of the stage, and for its reports to piped, before the answer"
	return []Case{{
		ID: "execution.answer.last", Capability: Execution, run: answerIsLast, last: true,
		Title: "the answer of a stage is the last that comes from it",
		Why:   "the next stage starts while this one still works, and what it writes then is lost",
		Next:  next,
	}, {
		ID: "execution.answer.completed", Capability: Execution, run: answerAfterLog,
		Title: "a stage answers when piped has taken the end of its log",
		Why:   "piped has the stage end with its answer, and the last lines of the log are lost",
		Next:  next,
	}}
}

// answerIsLast looks at all stages that have answered.
func answerIsLast(p *probe) error {
	if _, err := p.settled(); err != nil {
		return err
	}
	p.pause(p.suite.bounds.Quiet)
	for _, x := range p.suite.sessions() {
		late := x.rec.about(func(c call) bool { return c.late })
		if len(late) > 0 {
			return fmt.Errorf("after a stage had answered, it still sent %s for it (%d requests): the work goes on "+
				"after the answer", late[0].method, len(late))
		}
	}
	return nil
}

// answerAfterLog has piped take its time for the end of the log: a stage that waits for it has no answer meanwhile.
func answerAfterLog(p *probe) error {
	first, err := p.settled()
	if err != nil {
		return err
	}
	if first.session.piped.LogCalls(first.id) == 0 {
		return skip("the stage writes no log")
	}
	x, err := p.shared()
	if err != nil {
		return err
	}
	held, err := p.begin(x, order{holds: completing})
	if err != nil {
		return err
	}
	defer held.finish()
	early := errors.New("it answered before piped had taken the end of the log of the stage: the work goes on after " +
		"the answer")
	over, stop := x.within(p, p.suite.options.RunLimit)
	defer stop()
	select {
	case <-held.gate.begun:
	case e := <-held.ended:
		held.ended <- e
		if died := x.gone(e.err); died != nil {
			return died
		}
		late, stopLate := x.within(p, p.suite.bounds.Stop)
		defer stopLate()
		select {
		case <-held.gate.begun:
			return early
		case <-late:
			return skip("the stage does not complete its log, see log.completed")
		}
	case <-over:
		return skip("%s", p.suite.cutOff())
	}
	p.pause(p.suite.bounds.Quiet)
	if !held.begun() {
		return cmp.Or(x.alive(), early)
	}
	held.gate.release()
	late, stopLate := x.within(p, p.suite.bounds.Answer)
	defer stopLate()
	select {
	case e := <-held.ended:
		held.ended <- e
	case <-late:
		return fmt.Errorf("the stage has no answer %s after piped had taken the end of its log", p.suite.bounds.Answer)
	}
	return x.alive()
}

// within returns a channel that is closed when the limit has passed, and what ends the wait for it.
func (x *session) within(p *probe, limit time.Duration) (over <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(p.ctx)
	unbound := x.process.bound(ctx, limit, cancel)
	return ctx.Done(), func() {
		unbound()
		cancel()
	}
}

// completing is whether a request ends the log of a stage.
func completing(c call) bool {
	ends, ok := c.request.(interface{ GetCompleted() bool })
	return ok && ends.GetCompleted()
}
