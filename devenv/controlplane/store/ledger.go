// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
	"github.com/pipedeck/pipedeck/devenv/line"
)

// Journal keeps records. Its methods return at once and may be called under the locks of the store's parts.
type Journal interface {
	// Append has a record kept.
	Append(journal.Record)
	// Replace has everything replaced by what Kept emits.
	Replace()
	// Loaded says whether Restore has been called for all records of an earlier control plane.
	Loaded() bool
}

// ledger is what the parts of a store share: whose state it is, its time and bounds, and where a change goes. A part
// calls keep and publish under its own lock, so that the journal and the watchers get the changes of an object in their
// order.
type ledger struct {
	project string
	now     func() time.Time
	limits  Limits
	// flags follow the commands in texts for users; see Options.
	flags   string
	feed    feed
	journal atomic.Pointer[Journal] // nil for nowhere
}

func newLedger(o Options) *ledger {
	return &ledger{
		project: o.ProjectID, now: o.Now, limits: o.Limits, flags: o.Flags,
		feed: feed{now: o.Now, limits: o.Limits, watchers: map[*Subscription]struct{}{}},
	}
}

// withFlags returns a text for users whose commands find this environment.
func (l *ledger) withFlags(text string) string { return line.WithFlags(text, l.flags) }

// reason returns the reason of a status as it is kept: cut, and with commands that find this environment.
func (l *ledger) reason(text string) string { return line.Cut(l.withFlags(text), maxReasonBytes) }

func (l *ledger) keepIn(j Journal) {
	if j == nil {
		l.journal.Store(nil)
		return
	}
	l.journal.Store(&j)
}

// keep has the record of an object kept, if there is a journal.
func (l *ledger) keep(record func() journal.Record) {
	if j := l.journal.Load(); j != nil {
		(*j).Append(record())
	}
}

// keepAll has the journal replaced by the present state.
func (l *ledger) keepAll() {
	if j := l.journal.Load(); j != nil {
		(*j).Replace()
	}
}

func (l *ledger) keeps() bool { return l.journal.Load() != nil }

// unrestored reports whether there is a history that has not been read yet.
func (l *ledger) unrestored() bool {
	j := l.journal.Load()
	return j != nil && !(*j).Loaded()
}

// publish hands a change to every watcher.
func (l *ledger) publish(c Change) { l.feed.publish(c) }

// object is a message that an id and a project belong to.
type object interface {
	proto.Message
	GetId() string
	GetProjectId() string
}

// decode reads the object of a record.
func (l *ledger) decode(r journal.Record, m object) error {
	if err := proto.Unmarshal(r.Model, m); err != nil {
		return err
	}
	switch {
	case m.GetId() == "":
		return errNoID
	case m.GetProjectId() != l.project:
		return errOtherProject
	}
	return nil
}

// encode cannot fail: the messages came over the wire, or are made of such.
func encode(m proto.Message) []byte {
	data, _ := proto.Marshal(m)
	return data
}

func encodeCommit(c *model.Commit) []byte {
	if c == nil {
		return nil
	}
	return encode(c)
}

// decodeCommit returns nil for none, and for bytes that are none.
func decodeCommit(data []byte) *model.Commit {
	c := &model.Commit{}
	if len(data) == 0 || proto.Unmarshal(data, c) != nil {
		return nil
	}
	return c
}
