// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

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
	Caption            *deckv1.Caption
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

// follows reports whether c goes on where the log change l ends.
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
	case c.Caption != nil:
		n += proto.Size(c.Caption)
	}
	return n
}

// feed hands changes to the watchers, to each in the order in which they happened.
type feed struct {
	now    func() time.Time
	limits Limits

	mu       sync.Mutex
	watchers map[*Subscription]struct{}
}

func (f *feed) add(sub *Subscription) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers[sub] = struct{}{}
}

func (f *feed) remove(sub *Subscription) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.watchers, sub)
}

func (f *feed) publish(c Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.watchers) == 0 {
		return
	}
	c.Time = f.now()
	size := c.size()
	for sub := range f.watchers {
		sub.add(c, size, f.limits)
	}
}

// restart has all watchers begin again with the state as it is.
func (f *feed) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for sub := range f.watchers {
		sub.restart()
	}
}
