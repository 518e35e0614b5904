// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"time"
)

// shortestLull is the shortest time without a request to piped in which a stage is stopped: in a shorter one, it would
// not be seen whether the stage stops at once or goes on to its next request.
const shortestLull = time.Second

// lull is the longest time in which the stage works without a request to piped. A plugin that does not look at its
// cancel goes on there, while one that is cancelled at a request sees that the request fails.
type lull struct {
	length time.Duration
	// begins is how long after the beginning of the stage that is.
	begins time.Duration
	// after is what the stage has reported by then, and quiet how long after that it is stopped.
	after progress
	quiet time.Duration
	// open says that the stage was cut off in it, so that it is longer.
	open bool
}

// progress is what a stage has reported: it sends as much each time, but not as many blocks of its log at once.
type progress struct{ requests, blocks int }

func (q progress) reaches(other progress) bool {
	return q.requests >= other.requests && q.blocks >= other.blocks
}

// progressOf counts the blocks of a log once, which a checkpoint has again.
func progressOf(calls []call) (q progress) {
	blocks := map[int64]bool{}
	for _, c := range calls {
		if !isLog(c.method) {
			q.requests++
		}
		for _, block := range blocksOf(c) {
			blocks[block.GetIndex()] = true
		}
	}
	q.blocks = len(blocks)
	return q
}

// usualLull returns that of the baseline; nil for a stage that has none.
func usualLull(p *probe) *lull {
	e, err := p.ranOnce()
	if err != nil || e.err != nil && !e.cut && !e.refused() {
		return nil
	}
	return lullOf(e.session.rec.of(e.id), e.began, e.took, e.cut)
}

func lullOf(calls []call, began time.Time, took time.Duration, cut bool) *lull {
	longest, from := &lull{}, time.Duration(0)
	for i := 0; from < took; i++ {
		to := took
		if i < len(calls) && calls[i].at.Sub(began) < took { // later ones come after the answer, or the cut
			to = calls[i].at.Sub(began)
		}
		if length := to - from; length > longest.length {
			longest = &lull{length: length, begins: from, after: progressOf(calls[:i]), open: cut && to == took}
		}
		from = to
	}
	if longest.length < shortestLull {
		return nil
	}
	longest.quiet = min(time.Second, longest.length/2)
	return longest
}

// slept is whether a stage that was stopped after the quiet time, and took as long to stop, did so at the end of the
// lull. In a short rest, and in one of unknown length, that is not seen.
func (l *lull) slept(took time.Duration) bool {
	rest := l.length - l.quiet
	return !l.open && rest >= 1500*time.Millisecond && took >= rest*3/4
}

func (l *lull) String() string {
	more := ""
	if l.open {
		more = "more than "
	}
	return fmt.Sprintf("in the middle of its work, where it sends piped nothing for %s%s", more,
		l.length.Round(100*time.Millisecond))
}

// midway runs the stage until it is in the lull. It may end before: then it has not begun.
func midway(p *probe, x *session, l *lull, o order) (*pending, error) {
	held, err := p.begin(x, o)
	if err != nil {
		return nil, err
	}
	held.gate.release()
	held.lull = l
	last := time.Now()
	for limit := last.Add(p.suite.options.RunLimit); ; {
		calls := x.rec.of(held.id)
		if len(calls) > 0 {
			last = calls[len(calls)-1].at
		}
		left := l.quiet - time.Since(last)
		switch {
		case left <= 0 && progressOf(calls).reaches(l.after):
			return held, nil
		case left <= 0:
			left = l.quiet / 4 // it is not as far yet
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case e := <-held.ended:
			timer.Stop()
			held.ended <- e
			return held, nil
		case <-p.ctx.Done():
			timer.Stop()
			held.finish()
			return nil, p.ctx.Err()
		}
		if time.Now().After(limit) {
			held.silent = true
			return held, nil
		}
	}
}

// stopMoment has the stage at a moment at which it can be stopped: in its lull, or at its first request, where it is
// held up.
func stopMoment(p *probe, x *session, o order) (*pending, error) {
	if l := usualLull(p); l != nil {
		held, err := midway(p, x, l, o)
		if err != nil || held.begun() {
			return held, err
		}
		held.finish()
	}
	return p.hold(x, o)
}
