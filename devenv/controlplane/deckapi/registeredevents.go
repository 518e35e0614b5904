// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// The bounds of the answer of ListEvents.
const (
	maxListedEvents = 200
	maxEventsBytes  = 2 << 20
)

// Events serves EventService.
type Events struct {
	deckv1.UnimplementedEventServiceServer
	store *store.Store
}

var _ deckv1.EventServiceServer = (*Events)(nil)

// NewEvents returns the service on a store.
func NewEvents(s *store.Store) *Events { return &Events{store: s} }

// RegisterEvent implements deckv1.EventServiceServer.
func (s *Events) RegisterEvent(
	ctx context.Context, r *deckv1.RegisterEventRequest,
) (*deckv1.RegisterEventResponse, error) {
	if r.GetName() == "" || r.GetData() == "" {
		return nil, status.Error(codes.InvalidArgument, "an event needs a name and data")
	}
	for key, value := range r.GetLabels() {
		if key == "" || value == "" {
			return nil, status.Errorf(codes.InvalidArgument, "the label %q=%q has an empty part", key, value)
		}
	}
	var commit *model.Commit
	if r.GetCommitHash() != "" {
		commit = &model.Commit{Hash: r.GetCommitHash()}
	}
	id, err := s.store.Events.Register(&model.Event{
		Name: r.GetName(), Data: r.GetData(), Labels: r.GetLabels(), Contexts: r.GetContexts(),
		TriggerCommitHash: r.GetCommitHash(),
	}, commit)
	if err != nil {
		return nil, err
	}
	handled := s.store.Events.Handled(id)
	timer := time.NewTimer(min(r.GetWait().AsDuration(), syncWait))
	defer timer.Stop()
	select {
	case <-handled:
	case <-timer.C:
	case <-ctx.Done():
	}
	event, err := s.store.Events.Get(id)
	if err != nil {
		return nil, err
	}
	return &deckv1.RegisterEventResponse{Event: registeredEvent(event)}, nil
}

// ListEvents implements deckv1.EventServiceServer.
func (s *Events) ListEvents(_ context.Context, r *deckv1.ListEventsRequest) (*deckv1.ListEventsResponse, error) {
	named := func(e *model.Event) bool { return r.GetName() == "" || r.GetName() == e.GetName() }
	events, _, err := s.store.Events.List(named, true, "", store.Bounds{Items: maxListedEvents, Bytes: maxEventsBytes})
	if err != nil {
		return nil, err
	}
	answer := &deckv1.ListEventsResponse{}
	for _, e := range events {
		answer.Events = append(answer.Events, registeredEvent(e))
	}
	return answer, nil
}

var eventStatuses = map[model.EventStatus]deckv1.EventStatus{
	model.EventStatus_EVENT_NOT_HANDLED: deckv1.EventStatus_EVENT_STATUS_NOT_HANDLED,
	model.EventStatus_EVENT_SUCCESS:     deckv1.EventStatus_EVENT_STATUS_SUCCESS,
	model.EventStatus_EVENT_FAILURE:     deckv1.EventStatus_EVENT_STATUS_FAILURE,
	model.EventStatus_EVENT_OUTDATED:    deckv1.EventStatus_EVENT_STATUS_OUTDATED,
}

func registeredEvent(e *model.Event) *deckv1.RegisteredEvent {
	view := &deckv1.RegisteredEvent{
		Id: e.GetId(), Name: e.GetName(), Data: e.GetData(), Labels: e.GetLabels(),
		Status: eventStatuses[e.GetStatus()], Description: e.GetStatusDescription(),
		CreatedAt: &timestamppb.Timestamp{Seconds: e.GetCreatedAt()},
	}
	if e.GetHandledAt() > 0 {
		view.HandledAt = &timestamppb.Timestamp{Seconds: e.GetHandledAt()}
	}
	return view
}
