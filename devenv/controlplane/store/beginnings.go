// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const (
	// refindWithin is how long a piped that has started may take to find a problem of the process before again.
	refindWithin = 2 * time.Minute
	// maxBeginnings bounds what is kept of processes that have started one after another.
	maxBeginnings = 2 * maxPipedProblems
)

// beginnings are when the problems of a piped have begun, by id. A piped that starts again dates what it finds from its
// start, although nothing has changed for the user.
type beginnings struct {
	since map[string]*timestamppb.Timestamp
	// until is when those end that were not found again.
	until time.Time
}

// keep keeps those of a piped that starts again now.
func (b *beginnings) keep(problems map[string]struct{}, e *Environment, now time.Time) {
	if b.since == nil {
		b.since = map[string]*timestamppb.Timestamp{}
	}
	for id := range problems {
		if at := e.problem(id).GetSince(); at != nil && len(b.since) < maxBeginnings {
			b.since[id] = at
		}
	}
	b.until = now.Add(refindWithin)
}

// of returns when a problem has begun that a piped dates from since.
func (b beginnings) of(id string, since *timestamppb.Timestamp) *timestamppb.Timestamp {
	if at := b.since[id]; at != nil && (since == nil || at.AsTime().Before(since.AsTime())) {
		since = at
	}
	return proto.CloneOf(since)
}

// forget forgets what is not among the problems that were reported last, once there was time to find it.
func (b beginnings) forget(present map[string]struct{}, now time.Time) {
	if !now.After(b.until) {
		return
	}
	for id := range b.since {
		if _, still := present[id]; !still {
			delete(b.since, id)
		}
	}
}
