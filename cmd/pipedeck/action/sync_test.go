// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
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

func (d syncDeck) SyncCommit(
	context.Context, *deckv1.SyncCommitRequest, ...grpc.CallOption,
) (*deckv1.SyncCommitResponse, error) {
	return &deckv1.SyncCommitResponse{CommandId: "c", DeploymentId: "at"}, d.err
}

// synced runs the command for an application that a deck answers about.
func synced(t *testing.T, deck syncDeck, commit string) (document.Action, error) {
	t.Helper()
	s, _ := pastState()
	return syncApplication(t.Context(), &session.Session{Deck: deck, State: s}, typed(s, "sync", "web"),
		commit, "AUTO")
}

func TestSyncReturnsTheAnswerOfPiped(t *testing.T) {
	t.Parallel()
	done, err := synced(t, syncDeck{answer: &deckv1.SyncApplicationResponse{CommandId: "c", DeploymentId: "d"}}, "")
	require.NoError(t, err)
	require.Equal(t, document.Action{App: "web", AppID: "a", Deployment: "d", Command: "c",
		Text: "asked for a deployment of web: d"}, done)
	done, err = synced(t, syncDeck{answer: &deckv1.SyncApplicationResponse{CommandId: "c", Unanswered: "not yet"}}, "")
	require.NoError(t, err)
	require.Equal(t, "asked for a deployment of web", done.Text)
	require.Equal(t, "not yet", done.Unanswered)
	_, err = synced(t, syncDeck{err: status.Error(codes.FailedPrecondition,
		"piped refuses to deploy web: a; b is gone; add it")}, "")
	var failure *exit.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, exit.Failed, failure.Code)
	require.Equal(t, "piped refuses to deploy web: a; b is gone", failure.Error())
	require.Equal(t, "add it", failure.Hint)
}

func TestSyncDeploysTheCommitThatAUserNames(t *testing.T) {
	t.Parallel()
	done, err := synced(t, syncDeck{}, "0123456789")
	require.NoError(t, err)
	require.Equal(t, "asked for a deployment of web at commit 0123456: at", done.Text)
	require.Equal(t, "0123456789", done.Commit)
	for _, wrong := range []string{"HEAD", "abc", "main~1", "0123456789012345678901234567890123456789a", "abcg"} {
		_, err = synced(t, syncDeck{}, wrong)
		var usage *exit.Error
		require.ErrorAs(t, err, &usage, wrong)
		require.Equal(t, exit.WrongUsage, usage.Code)
		require.ErrorContains(t, err, `is not the hash of a commit`)
	}
}
