// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

func TestAnAnswerKeepsItsCodeAndItsWords(t *testing.T) {
	t.Parallel()
	call := status.Error(codes.Unavailable, "it stops; start it again")
	for _, said := range []func(error) error{
		Unreachable,
		func(err error) error { return Unreachable(Unreachable(err)) },
		func(err error) error { return Refusal(Unreachable(err)) },
		func(err error) error { return fmt.Errorf("%w", Unreachable(err)) },
	} {
		err := said(call)
		require.EqualError(t, err, "it stops")
		require.Equal(t, codes.Unavailable, status.Code(err))
		var failure *exit.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, "start it again", failure.Hint)
	}
	refused := Refusal(call)
	require.EqualError(t, refused, "it stops; start it again")
	require.Equal(t, codes.Unavailable, status.Code(refused))
}
