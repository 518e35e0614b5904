// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

func TestFaultsAreLinesOrDocuments(t *testing.T) {
	t.Parallel()
	faults := []*deckv1.Fault{{Id: "ab-1", Rule: "WAIT: hang", Stage: "WAIT", ApplicationId: "a", PipedId: "p"}}
	var out bytes.Buffer
	s := &session.Session{Out: &out}
	require.NoError(t, printFaults(s, faults, "removed %s (%s)", &format.Output{}))
	require.Equal(t, "removed WAIT: hang (ab-1)\n", out.String())
	out.Reset()
	require.NoError(t, printFaults(s, faults, "", clitest.JSON(t)))
	var printed document.Faults
	clitest.Document(t, "faults", out.String(), &printed)
	require.Equal(t, document.Fault{ID: "ab-1", Rule: "WAIT: hang", Stage: "WAIT", ApplicationID: "a", PipedID: "p",
		State: "waiting"}, printed.Faults[0])
}

func TestAFaultThatNothingMatchesSaysSo(t *testing.T) {
	t.Parallel()
	var warned bytes.Buffer
	s := &session.Session{State: &session.State{Deck: state.New()}, Err: &warned}
	misspelt := []*deckv1.Fault{{Id: "1", Rule: "GRET: hang", Stage: "GRET"}}
	require.Equal(t, "waiting", faultStates(s.State, misspelt)["1"], "a plugin that starts may have any stage")
	for _, e := range []*deckv1.Event{
		{Kind: &deckv1.Event_Plugin{Plugin: &deckv1.Plugin{Name: "greeter", Stages: []string{"GREET"}}}},
		{Kind: &deckv1.Event_Application{Application: &deckv1.Application{Id: "a"}}},
		{Kind: &deckv1.Event_Deployment{Deployment: &deckv1.Deployment{Id: "d", ApplicationId: "a",
			Stages: []*deckv1.Stage{{Id: "s", Name: "WAIT", ConfigId: "soak"}}}}},
	} {
		s.State.Apply(e)
	}
	faults := append(misspelt, &deckv1.Fault{Id: "2", Stage: "GREET"}, &deckv1.Fault{Id: "3", Stage: "soak"},
		&deckv1.Fault{Id: "4"}, &deckv1.Fault{Id: "5", Stage: "GREET_ROLLBACK"})
	require.Equal(t, map[string]string{"1": "never matched", "2": "waiting", "3": "waiting", "4": "waiting",
		"5": "waiting"}, faultStates(s.State, faults))
	warnOfUnmatched(s, faults)
	require.Equal(t, "warning: nothing matches now: no plugin and no deployment has a stage GRET; "+
		"did you mean GREET?\n", warned.String())
}

func TestAFaultThatIsRefusedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	require.NoError(t, refusedFault(nil))
	for code, want := range map[codes.Code]struct {
		code int
		hint string
	}{
		codes.InvalidArgument:    {exit.WrongUsage, "docs/faults.md"},
		codes.FailedPrecondition: {exit.Failed, "pipedeck status"},
		codes.Unimplemented:      {exit.NotStarted, "pipedeck down"},
	} {
		var failure *exit.Error
		require.True(t, errors.As(refusedFault(status.Error(code, "no")), &failure), code)
		require.EqualValues(t, want.code, failure.Code)
		require.Contains(t, failure.Hint, want.hint)
	}
}
