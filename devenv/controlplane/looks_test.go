// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// ordered returns the next order to look.
func ordered(t *testing.T, watch grpc.ServerStreamingClient[agentv1.WatchResponse]) *agentv1.LookOrder {
	t.Helper()
	for {
		change, err := watch.Recv()
		require.NoError(t, err)
		if len(change.GetLooks()) > 0 {
			return change.GetLooks()[0]
		}
	}
}

func TestAUserWaitsForALookAtTheLiveState(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "a1")
	p.deployLive(t)
	id := id("2")
	ask := func() (*deckv1.LookAtApplicationResponse, error) {
		return p.deck.LookAtApplication(testContext(t), &deckv1.LookAtApplicationRequest{ApplicationId: id})
	}
	_, err := ask()
	requireCode(t, codes.FailedPrecondition, err)
	require.ErrorContains(t, err, "its piped is not connected")

	ctx, leave := context.WithCancel(testContext(t))
	defer leave()
	watch, err := p.agent.Watch(ctx, &agentv1.WatchRequest{LooksOnRequest: true})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	answers := make(chan any, 2)
	askInBackground := func() {
		go func() {
			answer, err := ask()
			if err != nil {
				answers <- err
				return
			}
			answers <- answer
		}()
	}
	askInBackground()
	order := ordered(t, watch)
	require.Equal(t, id, order.GetApplicationId())
	began := time.Now()
	look := &agentv1.Look{ApplicationId: id, Number: order.GetNumber() - 1, StartedAt: timestamppb.New(began),
		EndedAt: timestamppb.New(began.Add(2 * time.Second))}
	report := func() {
		_, err := p.agent.ReportLooks(testContext(t), &agentv1.ReportLooksRequest{Looks: []*agentv1.Look{look}})
		require.NoError(t, err)
	}
	report()
	require.Empty(t, answers, "that look began before the order")
	look.Number, look.Error = order.GetNumber(), "no cluster"
	report()
	answer := (<-answers).(*deckv1.LookAtApplicationResponse)
	require.Equal(t, "no cluster", answer.GetError())
	require.Equal(t, 2*time.Second, answer.GetTook().AsDuration())

	askInBackground()
	ordered(t, watch)
	leave()
	require.Equal(t, "piped was disconnected while it looked",
		(<-answers).(*deckv1.LookAtApplicationResponse).GetError())
}

func TestALookThatLastsForLongIsShownWithTheAgeOfTheState(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "a1")
	p.deployLive(t)
	v := p.watch(t, false)
	began := timestamppb.New(time.Now().Add(-time.Minute).Truncate(time.Second))
	report := func(ended *timestamppb.Timestamp) {
		_, err := p.agent.ReportLooks(testContext(t), &agentv1.ReportLooksRequest{Looks: []*agentv1.Look{
			{ApplicationId: id("2"), StartedAt: began, EndedAt: ended},
			{ApplicationId: "gone", StartedAt: began}}})
		require.NoError(t, err)
	}
	report(nil)
	v.until(func() bool {
		app := v.applications[id("2")]
		return app.GetLookingSince().AsTime().Equal(began.AsTime()) && app.GetExaminedAt().IsValid()
	})
	report(timestamppb.Now())
	v.until(func() bool { return v.applications[id("2")].GetLookingSince() == nil })
	report(nil)
	v.until(func() bool { return v.applications[id("2")].GetLookingSince() != nil })
}
