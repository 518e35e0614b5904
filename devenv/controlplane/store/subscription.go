// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// ErrFellBehind is what Next returns once more changes wait than the limits allow: the changes are
// gone, Resync gives the state to go on from.
var ErrFellBehind = errors.New("the watcher fell behind; changes were dropped")

// Change is one thing that happened; exactly one of the pointers is set, or one of the removals.
// Values are whole, shared by all watchers and must not be changed.
type Change struct {
	Time        time.Time
	Environment *deckv1.Environment
	Component   *deckv1.Component
	Application *Application
	Deployment  *Deployment
	Piped       *Piped
	Plugin      *agentv1.Plugin
	// PipedID is the piped of Plugin or RemovedPlugin.
	PipedID            string
	Problem            *deckv1.Problem
	Log                *LogChange
	RemovedApplication string
	RemovedPlugin      string
	// RemovedProblem is the id of a problem that is gone.
	RemovedProblem string
}

// LogChange is a run of blocks that were added to the log of one stage. They are not in it, so that a watcher may be
// as slow as it is: ReadLog gives those that are still kept.
type LogChange struct {
	DeploymentID, StageID string
	// From is the position of the first block, To that after the last one.
	From, To int
}

// follows tells whether c goes on where the log change l ends.
func (l *LogChange) follows(c *LogChange) bool {
	return c != nil && l.DeploymentID == c.DeploymentID && l.StageID == c.StageID && l.From == c.To
}

// The memory that a queued change costs at least.
const changeOverhead = 512

// size is about what the change holds in memory while it waits.
func (c Change) size() int {
	n := changeOverhead
	switch {
	case c.Deployment != nil:
		n += proto.Size(c.Deployment.Model)
	case c.Application != nil:
		n += proto.Size(c.Application.Model)
	case c.Piped != nil:
		n += proto.Size(c.Piped.Model)
	case c.Plugin != nil:
		n += proto.Size(c.Plugin)
	case c.Component != nil:
		n += proto.Size(c.Component)
	case c.Problem != nil:
		n += proto.Size(c.Problem)
	}
	return n
}

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

// Subscribe returns a queue of the changes from now on, and the present state as changes to begin
// with. With logs, the state holds the logs of running stages and the queue every new block.
func (s *Store) Subscribe(logs bool) (*Subscription, []Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := &Subscription{store: s, logs: logs, wake: make(chan struct{}, 1)}
	s.watchers[sub] = struct{}{}
	return sub, s.snapshot(logs)
}

// Resync empties the queue and returns the present state, from which the queue goes on.
func (sub *Subscription) Resync() []Change {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.mu.Lock()
	sub.queue, sub.bytes, sub.behind = nil, 0, false
	sub.mu.Unlock()
	return s.snapshot(sub.logs)
}

// Close ends the subscription.
func (sub *Subscription) Close() {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	delete(sub.store.watchers, sub)
}

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
	if len(sub.queue) >= limits.WatcherChanges || (len(sub.queue) > 0 && sub.bytes+size > limits.WatcherBytes) {
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

// publish keeps a change and hands it to every watcher. The caller holds s.mu, which keeps the order.
func (s *Store) publish(c Change) {
	s.keepChange(c)
	s.tell(c)
}

// tell hands a change to every watcher.
func (s *Store) tell(c Change) {
	if len(s.watchers) == 0 {
		return
	}
	c.Time = s.now()
	size := c.size()
	for sub := range s.watchers {
		sub.add(c, size, s.limits)
	}
}
