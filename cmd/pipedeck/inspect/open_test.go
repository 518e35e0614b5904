// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

func TestScriptsGetNothingButTheAddress(t *testing.T) {
	t.Parallel()
	opened := &deckv1.OpenApplicationResponse{Url: "http://127.0.0.1:34567", Detail: "Service default/web"}
	var stdout, stderr bytes.Buffer
	require.NoError(t, printOpened(&stdout, &stderr, nil, opened, &format.Output{}))
	require.Equal(t, "http://127.0.0.1:34567\n", stdout.String())
	require.Empty(t, stderr.String(), "it is no terminal")
}

func TestTheAnswerOfTheEnvironmentHasItsNextStep(t *testing.T) {
	t.Parallel()
	for message, want := range map[string][2]string{
		"the cluster is simulated; use: pipedeck up --cluster kind": {"the cluster is simulated",
			"use: pipedeck up --cluster kind"},
		"a; b; do c":               {"a; b", "do c"},
		"web has no deploy target": {"web has no deploy target", "see pipedeck status"},
	} {
		var failure *exit.Error
		require.ErrorAs(t, session.Unreachable(status.Error(codes.FailedPrecondition, message)), &failure)
		require.Equal(t, exit.Failed, failure.Code)
		require.Equal(t, want, [2]string{failure.Err.Error(), failure.Hint})
	}
	plain := errors.New("x")
	require.Equal(t, plain, session.Unreachable(plain))
}
