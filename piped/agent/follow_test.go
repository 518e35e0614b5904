// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/system/clock/clocktest"
)

// subscription is one that a test feeds: each value is one change.
type subscription struct {
	signal chan struct{}
	next   chan controlplane.Change
}

func (t *subscription) Changed() <-chan struct{} { return t.signal }

func (t *subscription) Take() controlplane.Change {
	select {
	case change := <-t.next:
		return change
	default:
		return controlplane.Change{}
	}
}

func (t *subscription) send(change controlplane.Change) {
	t.next <- change
	t.signal <- struct{}{}
}

func TestListsThatFailedAreReadAgainWithoutAnotherChange(t *testing.T) {
	t.Parallel()
	source := &subscription{signal: make(chan struct{}), next: make(chan controlplane.Change, 1)}
	pauses := make(chan time.Duration)
	over := make(chan time.Time)
	asked := make(chan controlplane.Change)
	left := make(chan controlplane.Change)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		follow(ctx, source, clocktest.TimerFunc(func(d time.Duration) <-chan time.Time { pauses <- d; return over }),
			func(_ context.Context, change controlplane.Change) controlplane.Change {
				asked <- change
				return <-left
			})
	}()

	failed := controlplane.Change{Deployments: true, Commands: true}
	source.send(failed)
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		require.Equal(t, failed, <-asked)
		left <- failed
		pause := <-pauses
		require.Greater(t, pause, want*time.Second/2)
		require.LessOrEqual(t, pause, want*time.Second)
		over <- time.Time{}
	}
	require.Equal(t, failed, <-asked)
	left <- controlplane.Change{Commands: true}
	<-pauses

	source.send(controlplane.Change{Events: true})
	require.Equal(t, controlplane.Change{Events: true, Commands: true}, <-asked, "another change takes the rest along")
	left <- controlplane.Change{}

	source.send(controlplane.Change{Deployments: true})
	require.Equal(t, controlplane.Change{Deployments: true}, <-asked)
	left <- controlplane.Change{Deployments: true}
	require.LessOrEqual(t, <-pauses, time.Second, "the first pause again after a success")
	cancel()
	<-ended
}
