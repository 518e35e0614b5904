// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"time"

	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/system/clock"
)

// A list that cannot be read is requested again after a pause, which doubles between these bounds.
const (
	firstListPause = time.Second
	maxListPause   = 30 * time.Second
)

// changes is what a controlplane.Subscription offers.
type changes interface {
	Changed() <-chan struct{}
	Take() controlplane.Change
}

// follow calls act for each change until ctx ends. act returns what it could not handle: that comes again with
// the next change, or after a pause when there is none, because a control plane that pushes changes does not push
// them twice.
func follow(ctx context.Context, changes changes, timer clock.Timer,
	act func(context.Context, controlplane.Change) controlplane.Change) {
	var left controlplane.Change
	var again <-chan time.Time
	backoff := clock.NewBackoff(firstListPause, maxListPause)
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes.Changed():
		case <-again:
		}
		change := changes.Take()
		change.Deployments = change.Deployments || left.Deployments
		change.Commands = change.Commands || left.Commands
		left = act(ctx, change)
		if !left.Deployments && !left.Commands {
			again = nil
			backoff.Reset()
			continue
		}
		again = timer.After(backoff.Next())
	}
}
