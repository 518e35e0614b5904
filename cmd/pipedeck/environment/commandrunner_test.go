// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatACommandSaysOfItsFailureIsItsError(t *testing.T) {
	t.Parallel()
	failed := errors.New("exit status 2")
	require.EqualError(t, failedCommand(t.Context(), "pipedeck: no such call\nnext step: list them\n", failed),
		"no such call; next step: list them")
	require.Equal(t, failed, failedCommand(t.Context(), "\n", failed))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, failedCommand(ctx, "pipedeck: stopped", failed), context.Canceled)
}
