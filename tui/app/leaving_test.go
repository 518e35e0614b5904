// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestTearingDownNeedsTheNameOfTheEnvironment(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 80, 24, seams{})
	s.seesText("press a to approve")
	s.types("q")
	s.seesText("y     keep it running and leave", "stay here", "tear it down")
	s.types("t")
	s.seesText("Tear down default?", "its name", "default", "You are typing")
	s.types("\r")
	s.seesText("this is not the name of the environment")
	s.types("qy?:t")
	s.seesText("qy?:t", "Tear down default?")
	s.types("\r")
	s.seesText("this is not the name of the environment", "Tear down default?")
	s.types("\x1b")
	s.losesText("Tear down default?")
	s.types("qt")
	s.seesText("Tear down default?")
	s.losesText("this is not the name")
	s.types("default\r")
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, TearDown, outcome)
}

func TestCtrlCWaitsForTheAnswerToAnActionAndTheSecondDoesNot(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"once": false, "twice": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			release := server.Hold()
			s := play(t, dial(t, server), 80, 24, seams{})
			s.seesText("press a to approve")
			s.types("sy")
			call(t, server)
			s.types("\x03")
			s.seesText("leaving after the answer; ctrl+c leaves at once")
			if again {
				s.types("\x03")
			} else {
				release()
			}
			outcome, err := s.ends()
			require.NoError(t, err)
			require.Equal(t, LeaveRunning, outcome)
			release()
		})
	}
}

func TestARefusalWhileLeavingIsShownInsteadOfLeaving(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Refuse(status.Error(codes.FailedPrecondition, "another one runs"))
	release := server.Hold()
	s := play(t, dial(t, server), 80, 24, seams{})
	s.seesText("press a to approve")
	s.types("sy")
	call(t, server)
	s.types("\x03")
	s.seesText("leaving after the answer")
	release()
	s.seesText("cannot deploy hello-world: another one runs")
	s.types("\x03")
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, LeaveRunning, outcome)
}
