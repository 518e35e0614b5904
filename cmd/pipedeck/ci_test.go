// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

func TestARunThatDidNotDeployEverythingIsNoSuccess(t *testing.T) {
	t.Parallel()
	var exit *exitError
	require.ErrorAs(t, incomplete(reader.ErrEnded, ""), &exit)
	require.Equal(t, exitInterrupted, exit.code)
	require.NotErrorIs(t, exit, reader.ErrEnded, "only those who wait for the end take it for a success")

	require.ErrorAs(t, incomplete(context.DeadlineExceeded, "kubernetes: connection refused"), &exit)
	require.Equal(t, exitTimedOut, exit.code)
	require.EqualError(t, exit, "timed out: kubernetes: connection refused")

	for _, err := range []error{context.DeadlineExceeded, context.Canceled, errors.New("broken stream")} {
		require.Equal(t, err, incomplete(err, ""))
	}
}

func TestWhatIsWaitedForIsSaid(t *testing.T) {
	t.Parallel()
	starting := decktest.Component(0, "kubernetes", "waiting for https://127.0.0.1:9: connection refused")
	starting.State = deckv1.Component_STATE_STARTING
	ready := decktest.Component(1, "piped", "dev")
	ready.State = deckv1.Component_STATE_READY
	running := decktest.Canary()
	running.Status, running.StatusReason = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING, "The stages are running"
	for name, c := range map[string]struct {
		objects []proto.Message
		want    string
	}{
		"parts before deployments": {[]proto.Message{starting, ready, decktest.Application(), running},
			"kubernetes: waiting for https://127.0.0.1:9: connection refused"},
		"deployments": {[]proto.Message{ready, decktest.Application(), running},
			decktest.Application().Name + ": RUNNING: The stages are running"},
		"what is degraded": {
			[]proto.Message{ready, decktest.Application(), running, decktest.Problems()[1]},
			decktest.Application().Name + ": RUNNING: The stages are running; plugin wait is degraded: " +
				decktest.Problems()[1].GetReason() +
				" (next step: " + decktest.Problems()[1].GetNextStep() + ")",
		},
		"nothing": {[]proto.Message{ready, decktest.Application()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deck := state.New()
			for _, event := range decktest.Events(c.objects...) {
				deck.Apply(event)
			}
			require.Equal(t, c.want, unfinished(deck))
		})
	}
}
