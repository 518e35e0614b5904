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
	require.Equal(t, document.Fault{ID: "ab-1", Rule: "WAIT: hang", Stage: "WAIT", ApplicationID: "a", PipedID: "p"},
		printed.Faults[0])
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
