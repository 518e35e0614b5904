// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// syncDeck answers requests to sync.
type syncDeck struct {
	deckv1.DeckServiceClient
	answer *deckv1.SyncApplicationResponse
	err    error
}

func (d syncDeck) SyncApplication(
	context.Context, *deckv1.SyncApplicationRequest, ...grpc.CallOption,
) (*deckv1.SyncApplicationResponse, error) {
	return d.answer, d.err
}

func TestSyncPrintsTheAnswerOfPiped(t *testing.T) {
	t.Parallel()
	state, _ := pastState()
	created := &deckv1.SyncApplicationResponse{CommandId: "c", DeploymentId: "d"}
	away := &deckv1.SyncApplicationResponse{CommandId: "c", Unanswered: "piped has not answered within 8s"}
	for _, c := range []struct {
		answer       *deckv1.SyncApplicationResponse
		output, want string
	}{
		{created, "", "asked for a deployment of web: d\n"},
		{away, "", "asked for a deployment of web\n"},
		{created, "json", `"deployment_id": "d"`},
		{away, "json", `"unanswered": "piped has not answered within 8s"`},
	} {
		var out bytes.Buffer
		s := &session.Session{Deck: syncDeck{answer: c.answer}, State: state, Out: &out}
		err := syncApplication(t.Context(), s, "web", "AUTO", c.output)
		require.Contains(t, out.String(), c.want)
		if c.answer == created {
			require.NoError(t, err)
			continue
		}
		var failure *exit.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, exit.TimedOut, failure.Code, "a script must not take it for a deployment")
		require.Equal(t, "piped has not answered within 8s", failure.Error())
		require.Contains(t, failure.Hint, "pipedeck status")
	}
	refused := status.Error(codes.FailedPrecondition, "piped refuses to deploy web: a; b is gone; add it")
	for _, output := range []string{"", "json"} {
		var out bytes.Buffer
		s := &session.Session{Deck: syncDeck{err: refused}, State: state, Out: &out}
		err := syncApplication(t.Context(), s, "web", "AUTO", output)
		var failure *exit.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, exit.Failed, failure.Code)
		require.Equal(t, "piped refuses to deploy web: a; b is gone", failure.Error())
		require.Equal(t, "add it", failure.Hint)
		require.Empty(t, out.String())
	}
}
