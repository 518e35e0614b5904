// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
)

func cancelCases() []Case {
	return []Case{{
		ID: "cancel.ends", Capability: Cancel, run: cancelEnds,
		Title: "a stage whose call is cancelled stops and completes its log",
		Why: "the stage goes on while the deployment is rolled back; piped ends the process, with the stages of all " +
			"other deployments, after 15 s",
		Next: "stop the work when the context of the call ends, also in the middle of a wait: wait for the context " +
			"and not in a sleep; report the log as completed then",
	}, {
		ID: "cancel.quiet", Capability: Cancel, run: cancelQuiet,
		Title: "a cancelled stage that has completed its log sends nothing more",
		Why:   "a cancelled stage that still works changes what the rollback has put back",
		Next:  "wait for all threads of the stage before its log is completed",
	}, {
		ID: "cancel.early", Capability: Cancel, run: cancelEarly,
		Title: "a call that is cancelled at once does not disturb the next one",
		Why:   "users cancel at any moment, and the next deployment would fail",
		Next:  "expect the context to have ended already when the stage begins",
	}, {
		ID: "cancel.next", Capability: Cancel, run: cancelNext,
		Title: "the process serves on after a cancel, and the next stage ends",
		Why:   "one cancelled deployment would stop all others",
		Next:  "release locks, files and connections of a stage when it is cancelled",
	}, {
		ID: "cancel.reason", Capability: Cancel, run: cancelReason,
		Title: "the log of a cancelled stage says why it stopped, when the plugin asks for it",
		Why:   "users see a stage that stopped and not who cancelled it",
		Next:  "read the stage metadata pipedeck/stop after a cancel and log the words behind its first blank",
	}, {
		ID: "cancel.deadline", Capability: Cancel, run: deadline,
		Title: "a stage whose call has a deadline stops at the deadline",
		Why:   "timeouts of stages would have no effect",
		Next:  "stop the work when the context of the call ends, for whatever reason",
	}}
}

// cancelled cancels a stage that is held up, and lets it go on.
func cancelled(held *pending) error {
	if !held.begun() {
		held.finish()
		return skip("the stage ends without a request to piped, by which it could be held up")
	}
	held.cancel()
	<-time.After(50 * time.Millisecond) // the plugin sees the cancel first
	held.finish()
	return nil
}

// until is how long after its cancel a stage has completed its log.
func (x *session) until(id string, cancelled time.Time) time.Duration {
	for _, c := range x.rec.of(id) {
		if completing(c) {
			return c.at.Sub(cancelled)
		}
	}
	return 0 // it writes no log
}

// completes waits until the log of a cancelled stage is complete.
func completes(p *probe, x *session, id string) error {
	ctx, cancel := context.WithTimeout(p.ctx, p.suite.bounds.Stop)
	defer cancel()
	began := time.Now()
	err := x.piped.Until(ctx, func() bool { return x.piped.Completed(id) })
	if died := x.alive(); died != nil {
		return died
	}
	if err == nil {
		p.saw("after %s", time.Since(began).Round(time.Millisecond))
		return nil
	}
	calls := x.rec.of(id)
	if len(calls) == 0 {
		return fmt.Errorf("the stage has sent piped nothing, not even a log, and no answer %s after the cancel",
			p.suite.bounds.Stop)
	}
	if ago := time.Since(calls[len(calls)-1].at); ago < p.suite.bounds.Stop/2 {
		return fmt.Errorf("the stage goes on after its cancel: it still sent %s %s later",
			calls[len(calls)-1].method, (p.suite.bounds.Stop - ago).Round(time.Millisecond))
	}
	return fmt.Errorf("the log of the stage was not completed (ReportStageLogsFromLastCheckpoint with completed) "+
		"%s after the cancel: the stage goes on, or does not say that it has stopped", p.suite.bounds.Stop)
}

func cancelEnds(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	held, err := p.hold(x, order{})
	if err != nil {
		return err
	}
	if err := cancelled(held); err != nil {
		return err
	}
	began := time.Now()
	if err := stops(p, x, held.id); err != nil {
		return err
	}
	if err := heeded(p, held.id, x.until(held.id, began)); err != nil {
		return err
	}
	if err := cancelMidway(p, x); err != nil {
		return err
	}
	return saysDone(p, x, held.id)
}

// saysDone notes a stage that was cancelled early, and whose log ends as that of a stage that did all of its work.
func saysDone(p *probe, x *session, id string) error {
	first, err := p.settled()
	if err != nil || first.failed() {
		return nil //nolint:nilerr // another case looks at the stage itself
	}
	all, some := first.session.piped.Blocks(first.id, false), x.piped.Blocks(id, false)
	const worthComparing = 3
	if len(all) < worthComparing || len(some) == 0 || len(some)*2 > len(all) {
		return nil
	}
	usually, last := all[len(all)-1], some[len(some)-1]
	if usually.GetLog() != last.GetLog() || usually.GetSeverity() != last.GetSeverity() {
		return nil
	}
	return note("the log of a stage that was cancelled has %d of the usual %d entries, and it ends as that of a stage "+
		"that has done its work (%q): users take it for done, unless these words are said at every end", len(some),
		len(all), firstLine(last.GetLog()))
}

// cancelMidway cancels the stage where it sends piped nothing. A second time when it goes on to the end of the lull: it
// may have needed as long to stop.
func cancelMidway(p *probe, x *session) error {
	l := usualLull(p)
	if l == nil {
		p.saw("%s; it sends piped something all the time, so it was cancelled at its first request alone", p.seen)
		return nil
	}
	first := p.seen
	for again := false; ; again = true {
		held, err := midway(p, x, l, order{})
		if err != nil {
			return err
		}
		if !held.begun() {
			held.finish()
			p.saw("%s; it ended before it could be cancelled %s", first, l)
			return nil
		}
		began := time.Now()
		held.cancel()
		if err := stops(p, x, held.id); err != nil {
			return at(l, err)
		}
		took := x.until(held.id, began)
		p.saw("%s; %s, after %s", first, l, took.Round(time.Millisecond))
		held.finish()
		if !l.slept(took) {
			return nil
		}
		if again {
			return note("the stage, cancelled %s, stopped when it had done that, %s later: it does not see a cancel "+
				"there; where it works for more than 15s, piped ends the process with all its stages", l,
				took.Round(100*time.Millisecond))
		}
	}
}

// at says in the error of a case where the stage was stopped.
func at(l *lull, err error) error {
	var v *verdict
	if l == nil || err == nil || errors.As(err, &v) {
		return err
	}
	return fmt.Errorf("stopped %s: %w", l, err)
}

// heeded returns an error when a stage did all of its work after its cancel, which took some time.
func heeded(p *probe, id string, took time.Duration) error {
	const long = 2 * time.Second
	first, err := p.settled()
	if err != nil || first.failed() || first.took < long || took < first.took*3/4 {
		return nil //nolint:nilerr // a stage that does not end by itself has heard of its cancel
	}
	all, some := first.session.piped.Blocks(first.id, false), p.used.piped.Blocks(id, false)
	if len(some) < len(all) || len(all) == 0 || saysStopped(all, some) {
		return nil
	}
	return fmt.Errorf("the stage goes on after its cancel: it did all of its work, for %s, and its log ends as that "+
		"of a stage that is not cancelled (%q)", took.Round(100*time.Millisecond),
		firstLine(some[len(some)-1].GetLog()))
}

// saysStopped is whether a log ends otherwise than that of a stage that is not cancelled: with an error, or with a word
// about the cancel.
func saysStopped(all, some []*model.LogBlock) bool {
	usually, last := all[len(all)-1], some[len(some)-1]
	return last.GetSeverity() != usually.GetSeverity() ||
		strings.Contains(strings.ToLower(last.GetLog()), "cancel") &&
			!strings.Contains(strings.ToLower(usually.GetLog()), "cancel")
}

// stops waits for the end of a stage that was cancelled, as far as its log shows it.
func stops(p *probe, x *session, id string) error {
	if x.piped.LogCalls(id) == 0 {
		if e, err := p.settled(); err == nil && e.session.piped.LogCalls(e.id) == 0 {
			return skip("the stage writes no log that would show its end; process.sigterm.busy looks for the end")
		}
	}
	return completes(p, x, id)
}

func cancelQuiet(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	held, err := stopMoment(p, x, order{})
	if err != nil {
		return err
	}
	if err := cancelled(held); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.suite.bounds.Stop)
	defer cancel()
	if x.piped.Until(ctx, func() bool { return x.piped.Completed(held.id) }) != nil {
		return skip("its log is not completed, see cancel.ends")
	}
	p.pause(100 * time.Millisecond) // metadata may be on its way next to the log
	before := len(x.rec.of(held.id))
	p.pause(p.suite.bounds.Quiet)
	if calls := x.rec.of(held.id); len(calls) > before {
		return fmt.Errorf("after a cancel it completed the log of the stage, and sent %s afterwards (%d requests): "+
			"the "+
			"stage goes on", calls[before].method, len(calls)-before)
	}
	return nil
}

func cancelEarly(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	for i := range 7 {
		ctx, cancel := context.WithCancel(p.ctx)
		timer := time.AfterFunc(time.Duration(i*i)*2*time.Millisecond, cancel)
		_, err := x.execute(p, order{context: ctx})
		timer.Stop()
		cancel()
		if err != nil {
			return err
		}
	}
	return servesOn(p, x)
}

// servesOn runs the stage once more and compares its end with the usual one.
func servesOn(p *probe, x *session) error {
	if died := x.alive(); died != nil {
		return died
	}
	e, err := x.execute(p, order{})
	if err != nil {
		return err
	}
	if err := e.problem(); err != nil && !e.cut {
		return fmt.Errorf("the next stage: %w", err)
	}
	first, err := p.settled()
	if err != nil {
		return nil //nolint:nilerr // another case looks at the stage itself
	}
	if e.kind() != first.kind() {
		return fmt.Errorf("the next stage ended in %s, and in %s otherwise", e.kind(), first.kind())
	}
	p.saw("the next stage: %s", e.how())
	return nil
}

func cancelNext(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	held, err := stopMoment(p, x, order{})
	if err != nil {
		return err
	}
	if err := cancelled(held); err != nil {
		return err
	}
	return servesOn(p, x)
}

// cancelReason asks a second time when the reason is missing: plugins wait for the reason for a moment alone, and the
// answer may take longer on a busy machine.
func cancelReason(p *probe) error {
	err := cancelReasonOnce(p)
	var v *verdict
	if err == nil || errors.As(err, &v) {
		return err
	}
	p.pause(time.Second)
	return cancelReasonOnce(p)
}

func cancelReasonOnce(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	id := p.suite.newID()
	const reason = "Cancelled by conformance-user"
	x.piped.SetStageMetadata(id, "pipedeck/stop", "cancelled "+reason)
	held, err := p.hold(x, order{id: id})
	if err != nil {
		return err
	}
	begun := held.begun()
	held.cancel()
	p.pause(50 * time.Millisecond)
	held.finish()
	if !begun {
		return skip("the stage ends without a request to piped, by which it could be held up")
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.suite.bounds.Stop)
	defer cancel()
	_ = x.piped.Until(ctx, func() bool { return x.piped.Completed(id) })
	asked := len(x.rec.about(func(c call) bool {
		about, ok := c.request.(interface{ GetKey() string })
		return c.stage == id && ok && about.GetKey() == "pipedeck/stop"
	})) > 0
	switch {
	case !asked:
		return skip("it does not ask for the reason; only our piped gives one")
	case !strings.Contains(x.piped.Log(id), "conformance-user") && strings.Contains(x.piped.Log(id), "cancel"):
		return errors.New("it asked why the stage was cancelled, and its log does not say who cancelled it")
	case !strings.Contains(x.piped.Log(id), "conformance-user"):
		return skip("the stage had done its work before it saw the cancel")
	}
	return nil
}

func deadline(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	l, after := usualLull(p), 500*time.Millisecond
	var held *pending
	if l != nil {
		after = l.begins + l.quiet
		held, err = p.begin(x, order{deadline: after})
		held.gate.release()
	} else {
		held, err = p.hold(x, order{deadline: after})
	}
	if err != nil {
		return err
	}
	if !held.begun() {
		held.finish()
		return skip("the stage ends without a request to piped, by which it could be held up")
	}
	select {
	case e := <-held.ended: // at the deadline
		held.ended <- e
	case <-p.ctx.Done():
	}
	began := time.Now()
	p.pause(50 * time.Millisecond)
	held.finish()
	if err := stops(p, x, held.id); err != nil {
		return at(l, err)
	}
	if took := x.until(held.id, began); l != nil && l.slept(took) {
		return note("the stage, whose deadline was %s, stopped when it had done that, %s later, see cancel.ends", l,
			took.Round(100*time.Millisecond))
	}
	return nil
}
