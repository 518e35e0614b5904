// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

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

// RegisterEvent stores an event, tells the pipeds and returns the event's id. Id, project, key,
// status and times are filled in. The commit is the one that caused it, in any repository; nil for none.
func (s *Store) RegisterEvent(e *model.Event, commit *model.Commit) (string, error) {
	if size := proto.Size(e) + proto.Size(commit); size > s.limits.EventBytes {
		return "", invalid("event %s has %d bytes with its data, labels and contexts; at most %d are kept", e.GetName(), size, s.limits.EventBytes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e = proto.CloneOf(e)
	now := s.now().Unix()
	e.Id, e.ProjectId, e.EventKey = newID(), s.project, EventKey(e.GetName(), e.GetLabels())
	e.Status, e.CreatedAt, e.UpdatedAt = model.EventStatus_EVENT_NOT_HANDLED, now, now
	s.putEvent(e, proto.CloneOf(commit))
	s.keepEvent(e)
	s.judgeEvent(e)
	for id := range s.pipeds {
		s.signal(id, eventsChanged)
	}
	return e.GetId(), nil
}

// Events returns a page of the events that match, in the order of their registration or with newest in the other one,
// and whether there are more. The page begins after the event with that id; NotFound when it is not kept any more.
func (s *Store) Events(match func(*model.Event) bool, newest bool, after string, b Bounds) (page []*model.Event, more bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.events
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

// putEvent adds an event, and forgets the oldest one beyond the limit. The caller holds s.mu.
func (s *Store) putEvent(e *model.Event, commit *model.Commit) {
	s.events = append(s.events, e)
	if commit != nil {
		s.eventCommits[e.GetId()] = commit
	}
	if len(s.events) > s.limits.Events {
		delete(s.eventCommits, s.events[0].GetId())
		s.events = slices.Delete(s.events, 0, 1)
	}
}

// eventCommit returns the commit with that hash that caused an event; nil when there is none. The caller holds s.mu.
func (s *Store) eventCommit(hash string) *model.Commit {
	if hash == "" {
		return nil
	}
	for _, e := range slices.Backward(s.events) {
		if e.GetTriggerCommitHash() == hash && s.eventCommits[e.GetId()] != nil {
			return s.eventCommits[e.GetId()]
		}
	}
	return nil
}

// LatestEvent returns the newest event of that name and those labels.
func (s *Store) LatestEvent(name string, labels map[string]string) (*model.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := EventKey(name, labels)
	for _, e := range slices.Backward(s.events) {
		if e.GetEventKey() == key {
			return proto.CloneOf(e), nil
		}
	}
	return nil, notFound("event is not found")
}

// ReportEventStatus stores what became of an event.
func (s *Store) ReportEventStatus(id string, status model.EventStatus, description string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.GetId() != id {
			continue
		}
		now := s.now().Unix()
		e.Status, e.StatusDescription, e.UpdatedAt = status, description, now
		if status != model.EventStatus_EVENT_NOT_HANDLED {
			e.HandledAt = now
		}
		s.keepEvent(e)
		s.judgeEvent(e)
		return nil
	}
	return notFound("event %s is not found", id)
}

// judgeEvent makes a problem of a failed event, until another one of its name and labels takes its place: what it should
// have brought into Git is not there. The caller holds s.mu.
func (s *Store) judgeEvent(e *model.Event) {
	id := "event/" + e.GetEventKey()
	for _, newer := range slices.Backward(s.events) {
		if newer.GetEventKey() == e.GetEventKey() {
			e = newer
			break
		}
	}
	if e.GetStatus() != model.EventStatus_EVENT_FAILURE {
		s.clearProblem(id)
		return
	}
	s.setProblem(&deckv1.Problem{
		Id: id, Part: "event " + e.GetName(), Component: s.componentOf("repository"), Reason: "it was not brought into Git: " + e.GetStatusDescription(),
		NextStep: "fix the cause, then register the event again: pipectl event register --name " + e.GetName(),
	})
}
