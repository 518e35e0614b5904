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
// status and times are filled in.
func (s *Store) RegisterEvent(e *model.Event) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	e = proto.CloneOf(e)
	now := s.now().Unix()
	e.Id, e.ProjectId, e.EventKey = newID(), s.project, EventKey(e.GetName(), e.GetLabels())
	e.Status, e.CreatedAt, e.UpdatedAt = model.EventStatus_EVENT_NOT_HANDLED, now, now
	s.events = append(s.events, e)
	s.keepEvent(e)
	if len(s.events) > s.limits.Events {
		s.events = slices.Delete(s.events, 0, 1)
	}
	for id := range s.pipeds {
		s.signal(id, eventsChanged)
	}
	return e.GetId()
}

// Events returns the events that match, in the order of their registration.
func (s *Store) Events(match func(*model.Event) bool) []*model.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*model.Event
	for _, e := range s.events {
		if match(e) {
			found = append(found, proto.CloneOf(e))
		}
	}
	return found
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
		return nil
	}
	return notFound("event %s is not found", id)
}
