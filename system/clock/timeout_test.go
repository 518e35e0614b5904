// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clock_test

import (
	"context"
	"errors"
	"sync/atomic"
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

func TestATimeoutStandsStillWhileTheWorkIsHeld(t *testing.T) {
	t.Parallel()
	timer, late := make(asked), errors.New("too late")
	var held atomic.Int64
	held.Store(int64(time.Hour)) // before the timeout began
	ctx, cancel := clock.WithHeldTimeout(t.Context(), timer, 10*time.Second,
		func() time.Duration { return time.Duration(held.Load()) }, late)
	defer cancel()
	for _, step := range []struct {
		wait, held time.Duration
	}{
		{10 * time.Second, 4 * time.Second}, // held for 4 of the 10 seconds
		{4 * time.Second, 4 * time.Second},  // and for all of the next 4
		{4 * time.Second, time.Second},
		{time.Second, 0},
	} {
		request := <-timer
		require.Equal(t, step.wait, request.d)
		require.NoError(t, ctx.Err())
		held.Add(int64(step.held))
		request.over <- time.Time{}
	}
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), late)
}

// asked is a clock that hands each wait to the test.
type asked chan request

type request struct {
	d    time.Duration
	over chan time.Time
}

func (a asked) After(d time.Duration) <-chan time.Time {
	over := make(chan time.Time, 1)
	a <- request{d, over}
	return over
}
