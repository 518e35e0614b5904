// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"fmt"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestARefusalOfPipedIsReadInItsOwnWords(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
		return status.Error(codes.FailedPrecondition, "the deployment has ended")
	}
	err := plainErrors(t.Context(), "/method", nil, nil, nil, refuse)
	require.EqualError(t, fmt.Errorf("put stage metadata: %w", err), "put stage metadata: the deployment has ended")
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
}
