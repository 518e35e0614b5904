// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/state"
)

func degradedSnapshot() *snapshot {
	s := &snapshot{state.New()}
	for _, c := range decktest.Components() {
		s.Apply(&deckv1.Event{Kind: &deckv1.Event_Component{Component: c}})
	}
	for _, p := range decktest.Problems() {
		s.Apply(&deckv1.Event{Kind: &deckv1.Event_Problem{Problem: p}})
	}
	return s
}

func TestStatusListsProblemsWithTheirNextStep(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, printStatus(&out, degradedSnapshot()))
	require.Contains(t, out.String(), "degraded: 2 problems")
	require.Regexp(t, `plugin wait +\S+ +quarantined: it ended 5 times .* fix the binary, or run: pipedeck restart wait`, out.String())

	out.Reset()
	require.NoError(t, printStatusJSON(&out, degradedSnapshot()))
	var shown struct {
		Degraded bool `json:"degraded"`
		Problems []struct {
			Part     string `json:"part"`
			Reason   string `json:"reason"`
			NextStep string `json:"next_step"`
			Since    string `json:"since"`
		} `json:"problems"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &shown))
	require.True(t, shown.Degraded)
	require.Equal(t, "Kubernetes", shown.Problems[0].Part)
	require.NotEmpty(t, shown.Problems[0].Reason)
	require.NotEmpty(t, shown.Problems[0].NextStep)
	require.NotEmpty(t, shown.Problems[0].Since)

	out.Reset()
	require.NoError(t, printStatusJSON(&out, &snapshot{state.New()}))
	require.Contains(t, out.String(), `"degraded": false`)
}

func TestHealthIsAwaitedForAWhile(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Tell(decktest.Running()...)
	server.Tell(decktest.Problems()[0])
	deck := server.Dial(t)
	left, err := awaitHealth(t.Context(), deck, time.Second)
	require.NoError(t, err)
	require.Len(t, left, 1, "it does not clear")
	go server.Tell(&deckv1.Removed{ProblemId: decktest.Problems()[0].GetId()})
	left, err = awaitHealth(t.Context(), deck, time.Minute)
	require.NoError(t, err)
	require.Empty(t, left)
}
