// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneAtATimeInstallsProvidersIntoACache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var inside atomic.Int32
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			unlock, err := lockCache(t.Context(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d have the lock", n)
			}
			inside.Add(-1)
			unlock()
		})
	}
	work.Wait()
}

func TestTheWaitForACacheEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := lockCache(t.Context(), dir)
	require.NoError(t, err)
	defer unlock()
	cause := errors.New("cancelled by ann")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err = lockCache(ctx, dir)
	require.ErrorIs(t, err, cause)
	require.ErrorContains(t, err, "wait for another init")
}
