// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

// errIdle ends a UI at which no one looks, as far as can be known.
var errIdle = errors.New("idle")

// idle knows since when a watcher has pressed no key and no deployment has gone on.
type idle struct {
	clock clock.Clock
	limit time.Duration
	last  atomic.Int64 // in nanoseconds since 1970
}

func newIdle(c clock.Clock, limit time.Duration) *idle {
	i := &idle{clock: c, limit: limit}
	i.touch()
	return i
}

// touch begins the time again.
func (i *idle) touch() { i.last.Store(i.clock.Now().UnixNano()) }

// left is how much of the limit is left.
func (i *idle) left() time.Duration { return i.limit - i.clock.Now().Sub(time.Unix(0, i.last.Load())) }

// watch says that the limit is near, and ends the UI when it is over.
func (i *idle) watch(ctx context.Context, notices chan<- string, end context.CancelCauseFunc) {
	notice := min(time.Minute, i.limit/2)
	warned := false
	for {
		left := i.left()
		switch {
		case left <= 0:
			end(errIdle)
			return
		case left > notice:
			warned, left = false, left-notice
		case !warned:
			warned = true
			select {
			case notices <- fmt.Sprintf("idle: this connection ends in %s; press any key", shortly(notice)):
			default: // the one before is not shown yet
			}
		}
		select {
		case <-i.clock.After(left):
		case <-ctx.Done():
			return
		}
	}
}
