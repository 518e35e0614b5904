// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"time"
)

// mostStarved bounds the time that a process may wait for a processor, in bounds of what is waited for.
const mostStarved = 4

// worthwhile is the shortest bound to which the wait for a processor is added: shorter ones are looks at what is.
const worthwhile = time.Second

// within returns whether done is closed within a limit. The time in which the program waits for a processor is not
// part of it: on a busy machine, a program that needs a fraction of a second to start may wait for a minute.
func (p *process) within(ctx context.Context, limit time.Duration, done <-chan struct{}) bool {
	began, before := time.Now(), p.starved(limit)
	for left := limit; ; {
		timer := time.NewTimer(left)
		select {
		case <-done:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		select {
		case <-done:
			return true
		default:
		}
		waited := min(max(0, p.starved(limit)-before), mostStarved*limit)
		left = limit + waited - time.Since(began)
		if ctx.Err() != nil || left <= 0 {
			return false
		}
	}
}

// bound calls late when the limit has passed, until the caller calls stop.
func (p *process) bound(ctx context.Context, limit time.Duration, late func()) (stop func()) {
	over, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		if !p.within(ctx, limit, over) {
			late()
		}
	}()
	return func() {
		close(over)
		<-watched
	}
}

// starved is how long the program has waited for a processor, without those that it starts.
func (p *process) starved(limit time.Duration) time.Duration {
	if limit < worthwhile {
		return 0
	}
	return processorWait(p.command.Process.Pid)
}

// schedule is what a thread has used of the processors, and how long it has waited for one.
type schedule struct{ ran, waited time.Duration }
