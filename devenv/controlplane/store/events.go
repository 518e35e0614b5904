// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// Events are the last events that were registered.
type Events struct {
	ledger      *ledger
	environment *Environment
	signals     *signals

	mu  sync.Mutex
	all []*model.Event // the oldest first
	// commits are the commits that caused events, by the event's id.
	commits map[string]*model.Commit
	// waits are closed when the event with that id was handled, or is not kept any more.
	waits map[string]chan struct{}
}

func newEvents(l *ledger, e *Environment, s *signals) *Events {
	return &Events{ledger: l, environment: e, signals: s, commits: map[string]*model.Commit{},
		waits: map[string]chan struct{}{}}
}

// clear forgets all events. The store is frozen.
func (v *Events) clear() { v.all, v.commits = nil, map[string]*model.Commit{} }

// EventKey identifies events of the same name and labels. PipeCD v1: the SHA-256 of the name
// followed by "/key:value" for every label, sorted.
func EventKey(name string, labels map[string]string) string {
	var b strings.Builder
	b.WriteString(name)
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		b.WriteString("/" + k + ":" + labels[k])
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// Register stores an event, notifies the pipeds and returns the event's id. Id, project, key,
// status and times are filled in. The commit is the one that caused it, in any repository; nil for none.
func (v *Events) Register(e *model.Event, commit *model.Commit) (string, error) {
	if size, limit := proto.Size(e)+proto.Size(commit), v.ledger.limits.EventBytes; size > limit {
		return "", invalid("event %s has %d bytes with its data, labels and contexts; at most %d are kept", e.GetName(),
			size, limit)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	e = proto.CloneOf(e)
	now := v.ledger.now().Unix()
	e.Id, e.ProjectId, e.EventKey = newID(), v.ledger.project, EventKey(e.GetName(), e.GetLabels())
	e.Status, e.CreatedAt, e.UpdatedAt = model.EventStatus_EVENT_NOT_HANDLED, now, now
	v.put(e, proto.CloneOf(commit))
	v.keep(e)
	v.judge(e)
	v.signals.markAll(eventsChanged)
	return e.GetId(), nil
}

// List returns a page of the events that match, in the order of their registration or with newest in the other one,
// and whether there are more. The page begins after the event with that id; NotFound when it is not kept any more.
func (v *Events) List(
	match func(*model.Event) bool, newest bool, after string, b Bounds,
) (page []*model.Event, more bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	events := v.all
	if newest {
		events = slices.Clone(events)
		slices.Reverse(events)
	}
	if after != "" {
		at := slices.IndexFunc(events, func(e *model.Event) bool { return e.GetId() == after })
		if at < 0 {
			return nil, false, notFound("event %s is not found; list the events from the beginning", after)
		}
		events = events[at+1:]
	}
	var found []*model.Event
	for _, e := range events {
		if match(e) {
			found = append(found, e)
		}
	}
	page, more = pageOf(found, proto.CloneOf, b)
	return page, more, nil
}

// put adds an event, and forgets the oldest one beyond the limit. The caller holds v.mu.
func (v *Events) put(e *model.Event, commit *model.Commit) {
	v.all = append(v.all, e)
	if commit != nil {
		v.commits[e.GetId()] = commit
	}
	if len(v.all) > v.ledger.limits.Events {
		delete(v.commits, v.all[0].GetId())
		v.wake(v.all[0].GetId())
		v.all = slices.Delete(v.all, 0, 1)
	}
}

// commitOf returns the commit with that hash that caused an event; nil when there is none.
func (v *Events) commitOf(hash string) *model.Commit {
	if hash == "" {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range slices.Backward(v.all) {
		if e.GetTriggerCommitHash() == hash && v.commits[e.GetId()] != nil {
			return v.commits[e.GetId()]
		}
	}
	return nil
}

// Get returns the event with that id.
func (v *Events) Get(id string) (*model.Event, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range slices.Backward(v.all) {
		if e.GetId() == id {
			return proto.CloneOf(e), nil
		}
	}
	return nil, notFound("event %s is not found", id)
}

// Handled returns a channel that is closed when a piped has reported what became of the event, or when the event is not
// kept any more.
func (v *Events) Handled(id string) <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	open := slices.ContainsFunc(v.all, func(e *model.Event) bool {
		return e.GetId() == id && e.GetStatus() == model.EventStatus_EVENT_NOT_HANDLED
	})
	if wait := v.waits[id]; wait != nil {
		return wait
	}
	wait := make(chan struct{})
	if !open {
		close(wait)
		return wait
	}
	v.waits[id] = wait
	return wait
}

// wake ends the waits for an event. The caller holds v.mu.
func (v *Events) wake(id string) {
	if wait := v.waits[id]; wait != nil {
		close(wait)
		delete(v.waits, id)
	}
}

// Latest returns the newest event of that name and those labels.
func (v *Events) Latest(name string, labels map[string]string) (*model.Event, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := EventKey(name, labels)
	for _, e := range slices.Backward(v.all) {
		if e.GetEventKey() == key {
			return proto.CloneOf(e), nil
		}
	}
	return nil, notFound("event is not found")
}

// ReportStatus stores what became of an event.
func (v *Events) ReportStatus(id string, status model.EventStatus, description string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range v.all {
		if e.GetId() != id {
			continue
		}
		now := v.ledger.now().Unix()
		e.Status, e.StatusDescription, e.UpdatedAt = status, description, now
		if status != model.EventStatus_EVENT_NOT_HANDLED {
			e.HandledAt = now
			v.wake(id)
		}
		v.keep(e)
		v.judge(e)
		return nil
	}
	return notFound("event %s is not found", id)
}

// judge makes a problem of a failed event, until another one of its name and labels takes its place: what it should
// have brought into Git is not there. The caller holds v.mu.
func (v *Events) judge(e *model.Event) {
	id := "event/" + e.GetEventKey()
	for _, newer := range slices.Backward(v.all) {
		if newer.GetEventKey() == e.GetEventKey() {
			e = newer
			break
		}
	}
	if e.GetStatus() != model.EventStatus_EVENT_FAILURE {
		v.environment.ClearProblem(id)
		return
	}
	v.environment.report(&deckv1.Problem{
		Id: id, Part: "event " + e.GetName(), Component: v.environment.component("repository"),
		Reason: "it was not brought into Git: " + e.GetStatusDescription(),
		NextStep: "fix the cause, then register the event again: pipedeck event register " + e.GetName() +
			" --data VALUE",
	})
}

// keep has an event kept. The caller holds v.mu.
func (v *Events) keep(e *model.Event) {
	v.ledger.keep(func() journal.Record { return v.record(e) })
}

func (v *Events) record(e *model.Event) journal.Record {
	return journal.Record{Kind: journal.Event, ID: e.GetId(), Model: encode(e),
		Commit: encodeCommit(v.commits[e.GetId()])}
}

// records emits what the journal keeps. The store is frozen.
func (v *Events) records(emit func(journal.Record)) {
	for _, e := range v.all {
		emit(v.record(e))
	}
}

func (v *Events) restore(r journal.Record) error {
	e := &model.Event{}
	if err := v.ledger.decode(r, e); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := slices.IndexFunc(v.all, func(o *model.Event) bool { return o.GetId() == e.GetId() }); i >= 0 {
		v.all[i] = e
		return nil
	}
	v.put(e, decodeCommit(r.Commit))
	return nil
}
