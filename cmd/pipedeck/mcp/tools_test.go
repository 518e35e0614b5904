// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/preview"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

func TestAPreviewOfACommitHasOnlyFlagsOfItsCommand(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{"", "HEAD~1", "--output=x"} {
		cmd := preview.NewCommand(&session.Target{})
		require.NoError(t, cmd.ParseFlags(previewLine(previewed{Commit: commit})[1:]))
		require.Equal(t, commit, cmd.Flag("commit").Value.String())
		require.Equal(t, "json", cmd.Flag("output").Value.String())
	}
}

func TestAServerThatIsInterruptedEndsAsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, ended(ctx, nil))
	var failure *exit.Error
	require.ErrorAs(t, ended(ctx, errors.New("no JSON")), &failure)
	require.Equal(t, exit.Failed, failure.Code)
	require.ErrorContains(t, failure.Err, "messages of the assistant")
	cancel()
	require.ErrorAs(t, ended(ctx, ctx.Err()), &failure)
	require.Equal(t, exit.Interrupted, failure.Code)
	require.NoError(t, failure.Err)
}
