// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
)

func TestResultsOfEventsAreReportedWithTheirReasons(t *testing.T) {
	t.Parallel()
	handled := make(chan *model.Event, 4)
	p := start(t, func(c *controlplane.Config) { c.EventHandled = func(e *model.Event) { handled <- e } })
	ctx := testContext(t)
	registered, err := p.api.RegisterEvent(ctx, &apiservice.RegisterEventRequest{Name: "image-update", Data: "v2"})
	require.NoError(t, err)
	report := func(status model.EventStatus, description string) error {
		_, err := p.piped.ReportEventStatuses(ctx,
			&pipedservice.ReportEventStatusesRequest{Events: []*pipedservice.ReportEventStatusesRequest_Event{
				{Id: registered.GetEventId(), Status: status, StatusDescription: description},
			}})
		return err
	}
	require.NoError(t, report(model.EventStatus_EVENT_FAILURE, "main is checked out there"))
	next := func() *model.Event {
		select {
		case e := <-handled:
			return e
		case <-ctx.Done():
			require.FailNow(t, "no event was handled")
			return nil
		}
	}
	got := next()
	require.Equal(t, "image-update", got.GetName())
	require.Equal(t, model.EventStatus_EVENT_FAILURE, got.GetStatus())
	require.Equal(t, "main is checked out there", got.GetStatusDescription())
	require.NoError(t, report(model.EventStatus_EVENT_SUCCESS, "pushed"))
	require.Equal(t, model.EventStatus_EVENT_SUCCESS, next().GetStatus())
}
