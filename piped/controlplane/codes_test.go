// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestEveryCodeHasAClassWithAReason(t *testing.T) {
	t.Parallel()
	for code := codes.OK + 1; code <= codes.Unauthenticated; code++ {
		require.NotZero(t, classes[code].class, code)
		require.NotEmpty(t, classes[code].reason, code)
	}
	require.Len(t, classes, int(codes.Unauthenticated))
}

func TestErrorsOfCallsAreClassified(t *testing.T) {
	t.Parallel()
	require.True(t, Passing(status.Error(codes.Unavailable, "away")))
	require.True(t, Refused(fmt.Errorf("report: %w", status.Error(codes.NotFound, "no such stage"))),
		"also when wrapped")
	for _, err := range []error{nil, status.Error(codes.Internal, "failed"), errors.New("an error of another kind")} {
		require.False(t, Passing(err), err)
		require.False(t, Refused(err), err)
	}
}
