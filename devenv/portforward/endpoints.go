// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

// pod is a port of a pod that a connection may go to.
type pod struct {
	namespace, name, uid string
	port                 int32
}

// A pod that is ready may not listen yet. When all of them have refused, they are tried again after pauses with these
// bounds.
const (
	firstPause = 50 * time.Millisecond
	mostPause  = time.Second
)

// errNoPod means that no pod was ready in time.
var errNoPod = errors.New("no pod is ready")

// endpoints are the pods behind a port, as watches report them.
type endpoints struct {
	mu   sync.Mutex
	pods pods
	// changed is closed at the next change.
	changed chan struct{}
	// turn is whose turn it is.
	turn int
}

func newEndpoints() *endpoints { return &endpoints{changed: make(chan struct{})} }

func (e *endpoints) set(pods pods) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pods = pods
	close(e.changed)
	e.changed = make(chan struct{})
}

// count reports how many pods are ready, and how many there are or will be.
func (e *endpoints) count() (ready, all int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.pods.ready), len(e.pods.ready) + e.pods.coming
}

// tried are the pods that have not answered one request, or one connection. An attempt that has been given up may still
// look for a pod while the next attempt does.
type tried struct {
	mu   sync.Mutex
	pods map[pod]bool
}

func newTried() *tried { return &tried{pods: map[pod]bool{}} }

func (t *tried) add(p pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pods[p] = true
}

func (t *tried) has(p pod) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pods[p]
}

func (t *tried) empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pods) == 0
}

func (t *tried) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.pods)
}

// pick takes the next ready pod that has not been tried.
func (e *endpoints) pick(tried *tried) (next pod, found bool, changed <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ready := e.pods.ready
	for i := range ready {
		candidate := ready[(e.turn+i)%len(ready)]
		if !tried.has(candidate) {
			e.turn = (e.turn + i + 1) % len(ready)
			return candidate, true, nil
		}
	}
	return pod{}, false, e.changed
}

// await waits for a ready pod that has not been tried, until ctx ends. When all have been tried it
// pauses and begins again.
func (e *endpoints) await(ctx context.Context, tried *tried, pauses *clock.Backoff) (pod, error) {
	for {
		next, found, changed := e.pick(tried)
		if found {
			return next, nil
		}
		var again <-chan time.Time
		if !tried.empty() {
			again = time.After(pauses.Next())
		}
		select {
		case <-changed:
		case <-again:
			tried.clear()
		case <-ctx.Done():
			return pod{}, errNoPod
		}
	}
}
