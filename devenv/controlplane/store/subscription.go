// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"sync"
)

// ErrFellBehind is what Next returns once more changes wait than the limits allow: the changes are
// gone, Resync gives the state to go on from.
var ErrFellBehind = errors.New("the watcher fell behind; changes were dropped")

// Subscription is one watcher's bounded queue of changes. Close it when done.
type Subscription struct {
	store *Store
	logs  bool

	mu     sync.Mutex
	queue  []Change
	bytes  int
	behind bool
	// Holds a token when there is something to take.
	wake chan struct{}
}

// Resync empties the queue and returns the present state, from which the queue goes on.
func (sub *Subscription) Resync() []Change { return sub.store.resync(sub) }

// Close ends the subscription.
func (sub *Subscription) Close() { sub.store.ledger.feed.remove(sub) }

// Next waits for changes and returns all that are there, oldest first. It returns ErrFellBehind
// once after an overflow, and the context's error when that ends.
func (sub *Subscription) Next(ctx context.Context) ([]Change, error) {
	for {
		changes, behind := sub.take()
		if behind {
			return nil, ErrFellBehind
		}
		if len(changes) > 0 {
			return changes, nil
		}
		select {
		case <-sub.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (sub *Subscription) take() (changes []Change, behind bool) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	changes, behind = sub.queue, sub.behind
	sub.queue, sub.bytes = nil, 0
	return changes, behind
}

func (sub *Subscription) add(c Change, size int, limits Limits) {
	if c.Log != nil && !sub.logs {
		return
	}
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if sub.behind || c.Log != nil && sub.lengthen(c) {
		return
	}
	if n := len(sub.queue); n >= limits.Watcher.Items || n > 0 && sub.bytes+size > limits.Watcher.Bytes {
		sub.queue, sub.bytes, sub.behind = nil, 0, true
	} else {
		sub.queue = append(sub.queue, c)
		sub.bytes += size
	}
	select {
	case sub.wake <- struct{}{}:
	default:
	}
}

// maxLogsBack bounds how far lengthen looks: as many stages as usually write at the same time.
const maxLogsBack = 32

// lengthen adds a log change to one before it that waits. Only changes of other logs may be between them, so that the
// end of a stage does not come before its last line.
func (sub *Subscription) lengthen(c Change) bool {
	for i := len(sub.queue) - 1; i >= max(0, len(sub.queue)-maxLogsBack) && sub.queue[i].Log != nil; i-- {
		if before := sub.queue[i].Log; c.Log.follows(before) {
			longer := *before // which other watchers may have, too
			longer.To = c.Log.To
			sub.queue[i].Log = &longer
			return true
		}
	}
	return false
}

// clear empties the queue.
func (sub *Subscription) clear() {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	sub.queue, sub.bytes, sub.behind = nil, 0, false
}

// restart has the watcher begin again with the state as it is.
func (sub *Subscription) restart() {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	sub.queue, sub.bytes, sub.behind = nil, 0, true
	select {
	case sub.wake <- struct{}{}:
	default:
	}
}
