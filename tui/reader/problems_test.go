// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestProblemsAreReportedWhenTheyComeAndWhenTheyGo(t *testing.T) {
	t.Parallel()
	d := NewDiffer()
	p := decktest.Problems()[1]
	came := &deckv1.Event{Time: decktest.At(1), Kind: &deckv1.Event_Problem{Problem: p}}
	changes := d.Apply(came)
	require.Len(t, changes, 1)
	require.Empty(t, d.Apply(came), "the same again is no news")
	require.Equal(t, []string{"problem      plugin wait  DEGRADED  " + p.GetReason() + "  -> " + p.GetNextStep()},
		plainLines(changes[0], Options{}))
	require.Equal(t, []string{
		"The environment is degraded, plugin wait: " + p.GetReason() + ". Next step: " + p.GetNextStep() + ".",
	}, sentences(changes[0], Options{}))
	line, err := json.Marshal(jsonLine(changes[0]))
	require.NoError(t, err)
	require.JSONEq(t,
		`{"time":"2026-08-20T12:00:01Z","type":"problem","schema":1,"id":"`+p.GetId()+
			`","component":"piped","app_id":"","part":"plugin wait","state":"DEGRADED","reason":"`+
			p.GetReason()+
			`","next_step":"`+p.GetNextStep()+`","since":"2026-08-20T11:59:58Z"}`, string(line))

	d.Apply(&deckv1.Event{Kind: &deckv1.Event_Reset_{Reset_: &deckv1.Reset{}}})
	changes = d.Apply(&deckv1.Event{Kind: &deckv1.Event_Synced{Synced: &deckv1.Synced{}}})
	require.Len(t, changes, 1, "it went while no one listened")
	require.Equal(t, []string{"problem      plugin wait  CLEARED"}, plainLines(changes[0], Options{}))
	require.Equal(t, []string{"The problem with plugin wait is over."}, sentences(changes[0], Options{}))

	d.Apply(came)
	removed := &deckv1.Event{Kind: &deckv1.Event_Removed{Removed: &deckv1.Removed{ProblemId: p.GetId()}}}
	require.Len(t, d.Apply(removed), 1)
	require.Empty(t, d.Apply(removed))
}

func TestTheFailureOfAComponentIsReportedOnce(t *testing.T) {
	t.Parallel()
	d := NewDiffer()
	failed := decktest.Component(0, "kubernetes", "port in use")
	failed.State, failed.Hint = deckv1.Component_STATE_FAILED, "free it"
	require.Len(t, d.Apply(&deckv1.Event{Kind: &deckv1.Event_Component{Component: failed}}), 1)
	changes := d.Apply(&deckv1.Event{Kind: &deckv1.Event_Problem{Problem: &deckv1.Problem{
		Id: "component/kubernetes", Part: "kubernetes", Component: "kubernetes", Reason: "port in use",
		NextStep: "free it",
	}}})
	require.Len(t, changes, 1)
	require.Empty(t, plainLines(changes[0], Options{}))
	require.Empty(t, sentences(changes[0], Options{}))
	require.NotNil(t, jsonLine(changes[0]))
}
