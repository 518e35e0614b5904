// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/system/plainerror"
)

const (
	// maxProblems bounds what Problems returns. The oldest stay, and the last one counts the others.
	maxProblems = 100
	// maxSet bounds what is kept of Set.
	maxSet = 1000
)

// partOthers is the part of the problem that counts those that are not listed.
const partOthers = "other parts"

// Problem is a cause why a part does not work as it should.
type Problem struct {
	// Part names what does not work, uniquely ("plugin wait", "repository sample", "disk").
	Part string
	// Reason says in one line what does not work and why, NextStep what the user does about it.
	Reason, NextStep string
	// Configuration is true when the part is the configuration of an application: piped itself works. ApplicationID is
	// that application; empty when it is not registered.
	Configuration bool
	ApplicationID string
	// Since is when the part was seen with a problem first; sources leave it zero.
	Since time.Time
}

// Source returns the present problems of one or several parts. It is called often, from several goroutines, and must
// not block.
type Source func() []Problem

// Registry holds the problems of a piped. Its methods may be called from any goroutine.
type Registry struct {
	now func() time.Time

	mu      sync.Mutex
	set     map[string]Problem
	sources []Source
	// since is when the problems of sources were seen first, by part.
	since   map[string]time.Time
	changed chan struct{}
}

// New returns a registry without problems. A nil clock is the system's.
func New(now func() time.Time) *Registry {
	if now == nil {
		now = time.Now
	}
	return &Registry{now: now, set: map[string]Problem{}, since: map[string]time.Time{}, changed: make(chan struct{})}
}

// Set records that a part does not work. The same part set again keeps its time.
func (r *Registry) Set(part, reason, nextStep string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := Problem{Part: part, Reason: plainerror.Clean(reason), NextStep: nextStep, Since: r.now()}
	before, known := r.set[part]
	if known {
		p.Since = before.Since
	}
	if p == before || !known && len(r.set) >= maxSet {
		return
	}
	r.set[part] = p
	r.notify()
}

// Clear removes the problem of a part: the part works again, or is gone.
func (r *Registry) Clear(part string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.set[part]; known {
		delete(r.set, part)
		r.notify()
	}
}

// AddSource has a source asked by every call of Problems.
func (r *Registry) AddSource(s Source) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sources = append(r.sources, s)
}

// Touch announces that the answer of a source may have changed.
func (r *Registry) Touch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notify()
}

// Changed is closed at the next change.
func (r *Registry) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// Problems returns the present problems, the oldest first.
func (r *Registry) Problems() []Problem {
	r.mu.Lock()
	sources := slices.Clone(r.sources)
	r.mu.Unlock()
	var asked []Problem
	for _, source := range sources {
		asked = append(asked, source()...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	problems := r.dated(asked)
	for _, p := range r.set {
		problems = append(problems, p)
	}
	slices.SortFunc(
		problems, func(a, b Problem) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Part, b.Part)) },
	)
	return bounded(problems)
}

// bounded replaces the newest of too many problems by their number.
func bounded(problems []Problem) []Problem {
	if len(problems) <= maxProblems {
		return problems
	}
	rest := problems[maxProblems-1:]
	return append(problems[:maxProblems-1:maxProblems-1], Problem{
		Part: partOthers, Reason: fmt.Sprintf("%d more problems are not listed", len(rest)),
		NextStep: "fix those that are listed, then look again", Since: rest[0].Since,
	})
}

// dated gives the problems of sources the time at which they were seen first. The caller holds mu.
func (r *Registry) dated(asked []Problem) []Problem {
	since := make(map[string]time.Time, len(asked))
	var problems []Problem
	for _, p := range asked {
		if _, twice := since[p.Part]; twice {
			continue
		}
		if p.Since = r.since[p.Part]; p.Since.IsZero() {
			p.Since = r.now()
		}
		since[p.Part] = p.Since
		problems = append(problems, p)
	}
	r.since = since
	return problems
}

func (r *Registry) notify() {
	close(r.changed)
	r.changed = make(chan struct{})
}
