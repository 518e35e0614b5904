// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/clock"
)

// byHand is a clock whose time passes when the test says so.
type byHand chan time.Time

func (b byHand) After(time.Duration) <-chan time.Time { return b }

func TestATimeoutOfTheClockEndsTheContextWithItsCause(t *testing.T) {
	t.Parallel()
	timer, late := make(byHand), errors.New("too late")
	ctx, cancel := clock.WithTimeout(t.Context(), timer, time.Hour, late)
	defer cancel()
	require.NoError(t, ctx.Err())
	timer <- time.Time{}
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), late)
}

func TestATimeoutEndsWithItsParentAndWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	parent, end := context.WithCancelCause(t.Context())
	ctx, cancel := clock.WithTimeout(parent, still{}, time.Hour, errors.New("too late"))
	end(enough)
	<-ctx.Done()
	cancel()
	require.ErrorIs(t, context.Cause(ctx), enough)

	ctx, cancel = clock.WithTimeout(t.Context(), still{}, time.Hour, errors.New("too late"))
	cancel()
	require.ErrorIs(t, context.Cause(ctx), context.Canceled)
}
