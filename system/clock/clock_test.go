// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/clock"
)

func TestASleepEndsWithItsTimeOrItsContext(t *testing.T) {
	t.Parallel()
	require.True(t, clock.Sleep(t.Context(), time.Nanosecond))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.False(t, clock.Sleep(ctx, time.Hour))
	require.False(t, clock.Sleep(ctx, 0), "the caller has to end, too, when both have happened")
}
