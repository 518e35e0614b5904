// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"time"

	"github.com/pipedeck/pipedeck/piped/controlplane"
)

// A list that cannot be read is asked for again after a pause, which doubles between these bounds.
const (
	firstListPause = time.Second
	maxListPause   = 30 * time.Second
)

// changes is what a controlplane.Subscription offers.
type changes interface {
	Changed() <-chan struct{}
	Take() controlplane.Change
}

// follow has act deal with each change until ctx ends. What act gives back could not be dealt with: it
// comes again with the next change, or after a pause when there is none, since a control plane that
// tells of changes does not tell of them twice.
func follow(ctx context.Context, changes changes, after func(time.Duration) <-chan time.Time, act func(context.Context, controlplane.Change) controlplane.Change) {
	var left controlplane.Change
	var again <-chan time.Time
	pause := firstListPause
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
			again, pause = nil, firstListPause
			continue
		}
		again = after(pause)
		pause = min(2*pause, maxListPause)
	}
}
