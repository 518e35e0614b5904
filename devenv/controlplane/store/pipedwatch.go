// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "context"

// PipedWatch shows one connected piped what has changed. It holds a set, not a queue: what it says
// may be merged but is never lost. Close it when the connection ends.
type PipedWatch struct {
	pipeds  *Pipeds
	signals *signals
	id      string
	wake    chan struct{} // holds a token when something is marked
	// Guarded by the lock of signals.
	lists    Dirty
	restarts map[string]struct{}
}

// Next waits until something has changed.
func (w *PipedWatch) Next(ctx context.Context) (Dirty, error) {
	select {
	case <-w.wake:
		return w.signals.take(w), nil
	case <-ctx.Done():
		return Dirty{}, ctx.Err()
	}
}

// Close disconnects. When it was the piped's last connection, its plugins are shown as stopped.
func (w *PipedWatch) Close() { w.pipeds.disconnect(w) }

// mark is called with the lock of signals held.
func (w *PipedWatch) mark(change func(*Dirty)) {
	change(&w.lists)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
