// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import (
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// RegisteredEvents is the document of pipedeck event list.
type RegisteredEvents struct {
	Head
	// Events are those that the environment keeps, the newest first.
	Events []RegisteredEvent `json:"events"`
}

// EventRegistration is the document of pipedeck event register.
type EventRegistration struct {
	Head
	RegisteredEvent
}

// RegisteredEvent is an event for event watchers.
type RegisteredEvent struct {
	// ID identifies the event.
	ID string `json:"id"`
	// Name is that of the event.
	Name string `json:"name"`
	// Data is the value that event watchers write.
	Data string `json:"data"`
	// Labels are those of the event.
	Labels map[string]string `json:"labels"`
	// Status says what has become of it.
	Status string `json:"status" words:"event"`
	// Description says more.
	Description string `json:"description"`
	// CreatedAt is when it was registered.
	CreatedAt string `json:"created_at,omitempty" format:"date-time"`
	// HandledAt is when a piped has reported a result.
	HandledAt string `json:"handled_at,omitempty" format:"date-time"`
}

// EventWord returns the status of an event without its prefix.
func EventWord(status deckv1.EventStatus) string {
	return strings.TrimPrefix(status.String(), "EVENT_STATUS_")
}

// NewRegisteredEvent returns the object of an event.
func NewRegisteredEvent(e *deckv1.RegisteredEvent) RegisteredEvent {
	event := RegisteredEvent{
		ID: e.GetId(), Name: e.GetName(), Data: e.GetData(), Labels: e.GetLabels(), Status: EventWord(e.GetStatus()),
		Description: e.GetDescription(), CreatedAt: moment(e.GetCreatedAt()), HandledAt: moment(e.GetHandledAt()),
	}
	if event.Labels == nil {
		event.Labels = map[string]string{}
	}
	return event
}

// NewRegisteredEvents returns the document of events.
func NewRegisteredEvents(events []*deckv1.RegisteredEvent) RegisteredEvents {
	return RegisteredEvents{NewHead(), each(events, NewRegisteredEvent)}
}
