// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

func TestWhoRegistersAnEventHearsWhatBecomesOfIt(t *testing.T) {
	t.Parallel()
	p := start(t)
	ctx := testContext(t)
	events := deckv1.NewEventServiceClient(p.userConn)
	answered := make(chan *deckv1.RegisteredEvent, 1)
	go func() {
		answer, err := events.RegisterEvent(ctx, &deckv1.RegisterEventRequest{Name: "image", Data: "v2",
			Labels: map[string]string{"env": "dev"}, Wait: durationpb.New(8 * time.Second)})
		if err == nil {
			answered <- answer.GetEvent()
		}
		close(answered)
	}()
	var open []*deckv1.RegisteredEvent
	require.Eventually(t, func() bool {
		listed, err := events.ListEvents(ctx, &deckv1.ListEventsRequest{})
		open = listed.GetEvents()
		return err == nil && len(open) == 1
	}, 5*time.Second, time.Millisecond)
	require.Equal(t, deckv1.EventStatus_EVENT_STATUS_NOT_HANDLED, open[0].GetStatus())
	_, err := p.piped.ReportEventStatuses(ctx,
		&pipedservice.ReportEventStatusesRequest{Events: []*pipedservice.ReportEventStatusesRequest_Event{
			{Id: open[0].GetId(), Status: model.EventStatus_EVENT_FAILURE, StatusDescription: "no such file"},
		}})
	require.NoError(t, err)
	event := <-answered
	require.Equal(t, deckv1.EventStatus_EVENT_STATUS_FAILURE, event.GetStatus())
	require.Equal(t, "no such file", event.GetDescription())
	require.NotNil(t, event.GetHandledAt())

	answer, err := events.RegisterEvent(ctx, &deckv1.RegisterEventRequest{Name: "other", Data: "v3"})
	require.NoError(t, err, "without a wait")
	require.Equal(t, deckv1.EventStatus_EVENT_STATUS_NOT_HANDLED, answer.GetEvent().GetStatus())
	listed, err := events.ListEvents(ctx, &deckv1.ListEventsRequest{})
	require.NoError(t, err)
	require.Equal(t, "other", listed.GetEvents()[0].GetName(), "the newest first")
	require.Len(t, listed.GetEvents(), 2)
	listed, err = events.ListEvents(ctx, &deckv1.ListEventsRequest{Name: "image"})
	require.NoError(t, err)
	require.Len(t, listed.GetEvents(), 1)

	for _, r := range []*deckv1.RegisterEventRequest{{}, {Name: "a"}, {Data: "a"},
		{Name: "a", Data: "a", Labels: map[string]string{"k": ""}}} {
		_, err := events.RegisterEvent(ctx, r)
		requireCode(t, codes.InvalidArgument, err)
	}
}
