// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

const (
	// holderPatience bounds the wait for a process that holds the lock and does not answer.
	holderPatience = 3 * time.Second
	holderPoll     = 20 * time.Millisecond
)

// hasHolder reports whether a process runs the environment. A process that was killed keeps the lock until the system
// has taken it apart, which takes a while on a busy machine. hasHolder therefore waits for an answer of the process or
// for the end of the lock, at most holderPatience; a process that does neither hangs, and counts as running.
func hasHolder(ctx context.Context, w *workspace.Workspace) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, holderPatience)
	defer cancel()
	ticker := time.NewTicker(holderPoll)
	defer ticker.Stop()
	for {
		alive, err := w.Alive()
		if err != nil || !alive || answers(ctx, w) {
			return alive, err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return w.Alive()
		}
	}
}

// answers reports whether the control plane of the environment answers.
func answers(ctx context.Context, w *workspace.Workspace) bool {
	if _, err := w.Published(); err != nil {
		return false
	}
	deck, conn, err := session.Dial(ctx, w)
	if err != nil {
		return false
	}
	defer conn.Close()
	stream, err := deck.Watch(ctx, &deckv1.WatchRequest{})
	if err != nil {
		return false
	}
	_, err = stream.Recv()
	return err == nil
}
