// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"sync"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/devenv/line"
)

const (
	// maxLookWaits bounds the users who wait for looks.
	maxLookWaits = 256
	// maxLookReason bounds why a look has failed, in bytes.
	maxLookReason = 4 << 10
)

// looks are the orders of users to look at live states, and who waits for them.
type looks struct {
	mu sync.Mutex
	// number is that of the last order. It is a time in microseconds, so that a piped that goes on gets greater numbers
	// from the next control plane, too.
	number uint64
	waits  map[*lookWait]struct{}
}

type lookWait struct {
	application, piped string
	number             uint64
	ended              chan Look // buffered
}

// Look is how a look at a live state has ended.
type Look struct {
	// Error is why the live state could not be read; empty when it was.
	Error string
	Took  time.Duration
}

// LookNow has the piped of an application look at its live state, and waits until it has.
func (s *Store) LookNow(ctx context.Context, application string) (Look, error) {
	a, err := s.Applications.Get(application)
	if err != nil {
		return Look{}, err
	}
	switch {
	case a.GetMostRecentlySuccessfulDeployment() == nil:
		return Look{}, precondition("application %q was not deployed yet, so there is nothing to look at; see "+
			"`pipedeck deployments`", a.GetName())
	case a.GetDisabled():
		return Look{}, precondition("application %q is disabled; enable it first", a.GetName())
	}
	wait, err := s.Applications.looks.order(application, a.GetPipedId(), s.Now())
	if err != nil {
		return Look{}, err
	}
	defer s.Applications.looks.giveUp(wait)
	order := &agentv1.LookOrder{ApplicationId: application, Number: wait.number}
	if !passLook(s.Pipeds, wait.piped, order) {
		return Look{}, precondition("no one can look at application %q: its piped is not connected, or is one that "+
			"does not look on request; wait until piped is back, or use piped of pipedeck", a.GetName())
	}
	select {
	case look := <-wait.ended:
		return look, nil
	case <-ctx.Done():
		return Look{}, ctx.Err()
	}
}

func (l *looks) order(application, piped string, now time.Time) (*lookWait, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waits) >= maxLookWaits {
		return nil, exhausted("%d users wait for looks at live states already; try again later", maxLookWaits)
	}
	l.number = max(l.number+1, uint64(max(0, now.UnixMicro()))) // greater even when the clock stands still
	wait := &lookWait{application: application, piped: piped, number: l.number, ended: make(chan Look, 1)}
	if l.waits == nil {
		l.waits = map[*lookWait]struct{}{}
	}
	l.waits[wait] = struct{}{}
	return wait, nil
}

func (l *looks) giveUp(wait *lookWait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waits, wait)
}

// ReportLooks takes how looks at live states go. Those at applications of other pipeds, and at ones that are gone, end
// the waits alone.
func (l *LiveStates) ReportLooks(pipedID string, reported []*agentv1.Look) error {
	for _, look := range reported {
		since := time.Time{}
		if look.GetEndedAt() == nil && look.GetStartedAt().IsValid() {
			since = look.GetStartedAt().AsTime()
		}
		looking(l.applications, pipedID, look.GetApplicationId(), since)
		if look.GetEndedAt() != nil {
			l.applications.looks.ended(pipedID, look)
		}
	}
	return nil
}

// ended answers those who wait for a look.
func (l *looks) ended(pipedID string, look *agentv1.Look) {
	took := max(0, look.GetEndedAt().AsTime().Sub(look.GetStartedAt().AsTime()))
	l.mu.Lock()
	defer l.mu.Unlock()
	for wait := range l.waits {
		if wait.application != look.GetApplicationId() || wait.piped != pipedID || wait.number > look.GetNumber() {
			continue
		}
		delete(l.waits, wait)
		wait.ended <- Look{Error: line.Cut(look.GetError(), maxLookReason), Took: took}
	}
}

// abandon answers those who wait for looks of a piped that is gone.
func (l *looks) abandon(pipedID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for wait := range l.waits {
		if wait.piped == pipedID {
			delete(l.waits, wait)
			wait.ended <- Look{Error: "piped was disconnected while it looked"}
		}
	}
}

// looking notes since when a look at an application lasts for long; zero for none.
func looking(a *Applications, pipedID, id string, since time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, err := a.index.findOwned(pipedID, id)
	if err != nil || one.lookingSince.Equal(since) {
		return
	}
	one.lookingSince = since
	a.ledger.publish(Change{Application: a.view(one)})
}

// stopLooking notes that a piped has started again: the looks of the one before have ended with it.
func stopLooking(a *Applications, pipedID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.index.byID {
		if one.model.GetPipedId() == pipedID && !one.lookingSince.IsZero() {
			one.lookingSince = time.Time{}
			a.ledger.publish(Change{Application: a.view(one)})
		}
	}
}

// passLook passes an order on to a piped. It reports whether the piped takes such orders.
func passLook(p *Pipeds, id string, order *agentv1.LookOrder) bool {
	p.mu.Lock()
	one, err := p.find(id)
	able := err == nil && one.able.LooksOnRequest
	p.mu.Unlock()
	return able && p.signals.look(id, order)
}
