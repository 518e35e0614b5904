// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// refuseOnce has the deck refuse requests until the first one has come.
func refuseOnce(t *testing.T, code codes.Code) (*decktest.Server, deckv1.DeckServiceClient) {
	t.Helper()
	server := decktest.Start(t)
	server.Refuse(status.Error(code, "the history is being read; try again"))
	return server, server.Dial(t)
}

func TestAnApprovalThatCannotBeTakenForAMomentIsSentAgain(t *testing.T) {
	t.Parallel()
	server, deck := refuseOnce(t, codes.Unavailable)
	var said []string
	say := func(line string) { said = append(said, line) }
	a := newAttendant(Actions{Approve: true}, say, say, "")
	attended := make(chan struct{})
	go func() {
		defer close(attended)
		a.attend(t.Context(), deck, deckOf(app("web", synced, ""), deployed("web", head, 1, running, ask(nil, 0))))
	}()
	<-server.Calls
	server.Refuse(nil)
	<-attended
	require.Empty(t, said)
	require.Len(t, a.sent, 1)
	require.IsType(t, &deckv1.ApproveStageRequest{}, <-server.Calls)
}

func TestARemovalWhoseAnswerIsLateIsAwaited(t *testing.T) {
	t.Parallel()
	_, deck := refuseOnce(t, codes.DeadlineExceeded)
	var said []string
	d := deckOf(app("web", deckv1.SyncStatus_SYNC_STATUS_ORPHANED, ""))
	one := &Removal{Application: Application{File: fileOf(d.Application(d.Applications()[0].GetId()))}}
	r := &removals{warn: func(line string) { said = append(said, line) }, all: []*Removal{one}}
	r.attend(t.Context(), deck, d)
	require.Empty(t, said)
	require.Empty(t, one.Refused)
	require.NotEmpty(t, r.left(d))
}
