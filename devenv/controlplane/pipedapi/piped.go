// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pipedapi

import (
	"context"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
)

// ReportPipedMeta stores what a starting piped says of itself.
func (s *Server) ReportPipedMeta(
	ctx context.Context, r *ps.ReportPipedMetaRequest,
) (*ps.ReportPipedMetaResponse, error) {
	name, err := s.store.Pipeds.ReportMeta(auth.Piped(ctx), r)
	return reply(&ps.ReportPipedMetaResponse{Name: name}, err)
}

// ReportStat proves that the piped lives; the call itself does, its numbers are not kept.
func (s *Server) ReportStat(context.Context, *ps.ReportStatRequest) (*ps.ReportStatResponse, error) {
	return &ps.ReportStatResponse{}, nil
}

// GetDesiredVersion answers with the version that a launcher should run.
func (s *Server) GetDesiredVersion(
	ctx context.Context, _ *ps.GetDesiredVersionRequest,
) (*ps.GetDesiredVersionResponse, error) {
	p, err := s.store.Pipeds.Get(auth.Piped(ctx))
	return reply(&ps.GetDesiredVersionResponse{Version: p.GetDesiredVersion()}, err)
}

// ListEvents answers with the events of a span of time; "from" belongs to it, "to" does not. PipeCD's protocol has no
// pages here: what does not fit into one message is left out, and comes once the events in front are handled.
func (s *Server) ListEvents(_ context.Context, r *ps.ListEventsRequest) (*ps.ListEventsResponse, error) {
	events, _, err := s.store.Events.List(listed(r), r.GetOrder() == ps.ListOrder_DESC, "", whole)
	return reply(&ps.ListEventsResponse{Events: events}, err)
}

// eventPosition is the last event of a page.
type eventPosition struct {
	ID string `json:"i"`
}

// PageEvents answers with a page of events.
func (a *Agent) PageEvents(_ context.Context, r *agentv1.PageEventsRequest) (*agentv1.PageEventsResponse, error) {
	var at eventPosition
	if err := decodeCursor(r.GetCursor(), &at); err != nil {
		return nil, err
	}
	events, more, err := a.store.Events.List(listed(r.GetList()), r.GetList().GetOrder() == ps.ListOrder_DESC, at.ID,
		page)
	if err != nil || !more {
		return reply(&agentv1.PageEventsResponse{Events: events}, err)
	}
	cursor, err := encodeCursor(eventPosition{events[len(events)-1].GetId()})
	return reply(&agentv1.PageEventsResponse{Events: events, Cursor: cursor}, err)
}

// listed matches the events that a request asks for.
func listed(r *ps.ListEventsRequest) func(*model.Event) bool {
	return func(e *model.Event) bool {
		return (r.GetFrom() == 0 || e.GetCreatedAt() >= r.GetFrom()) &&
			(r.GetTo() == 0 || e.GetCreatedAt() < r.GetTo()) && hasStatus(e, r.GetStatus())
	}
}

// GetLatestEvent answers with the newest event of the name and labels, NotFound when none.
func (s *Server) GetLatestEvent(_ context.Context, r *ps.GetLatestEventRequest) (*ps.GetLatestEventResponse, error) {
	e, err := s.store.Events.Latest(r.GetName(), r.GetLabels())
	return reply(&ps.GetLatestEventResponse{Event: e}, err)
}

// ReportEventStatuses stores what became of events.
func (s *Server) ReportEventStatuses(
	_ context.Context, r *ps.ReportEventStatusesRequest,
) (*ps.ReportEventStatusesResponse, error) {
	for _, e := range r.GetEvents() {
		if err := s.store.Events.ReportStatus(e.GetId(), e.GetStatus(), e.GetStatusDescription()); err != nil {
			return nil, err
		}
	}
	return &ps.ReportEventStatusesResponse{}, nil
}

func hasStatus(e *model.Event, wanted ps.ListEventsRequest_Status) bool {
	switch wanted {
	case ps.ListEventsRequest_NOT_HANDLED:
		return e.GetStatus() == model.EventStatus_EVENT_NOT_HANDLED
	case ps.ListEventsRequest_SUCCESS:
		return e.GetStatus() == model.EventStatus_EVENT_SUCCESS
	case ps.ListEventsRequest_FAILURE:
		return e.GetStatus() == model.EventStatus_EVENT_FAILURE
	case ps.ListEventsRequest_OUTDATED:
		return e.GetStatus() == model.EventStatus_EVENT_OUTDATED
	}
	return true
}
