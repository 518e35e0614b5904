// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"slices"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

// Crashes counts the recent unexpected ends of a process that is started again, and says when that is pointless.
// Its methods may be called from several goroutines.
type Crashes struct {
	// Limit is how many ends within Window are accepted before the process was ready for the first time.
	Limit  int
	Window time.Duration
	// Pause and Longest bound the waits before the next start, which grow with the number of recent ends.
	Pause, Longest time.Duration

	mu     sync.Mutex
	ready  bool
	recent []time.Time
}

// Ready records that the process has worked once: it is started again from now on, however often it ends.
func (c *Crashes) Ready() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready = true
}

// Ended records an unexpected end. It returns how many there were within the window, how long to wait before the
// next start, and whether to give up: a process that never worked will not work the next time either.
func (c *Crashes) Ended(at time.Time) (recent int, pause time.Duration, giveUp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent = slices.DeleteFunc(c.recent, func(earlier time.Time) bool { return at.Sub(earlier) > c.Window })
	c.recent = append(c.recent, at)
	recent = len(c.recent)
	return recent, clock.Pause(c.Pause, c.Longest, recent), recent > c.Limit && !c.ready
}
