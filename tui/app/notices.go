// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
)

// beginNotices shows what the program and the story say, until the UI ends.
func beginNotices(work *work, cfg Config, send func(tea.Msg)) {
	work.spawn(func(ctx context.Context) { passNotices(ctx, cfg.Notices, send) })
	if cfg.Guest != nil {
		work.spawn(func(ctx context.Context) { cfg.Guest.passSizes(ctx, send) })
	}
	if cfg.Share != nil {
		work.spawn(func(ctx context.Context) { cfg.Share.pass(ctx, send) })
	}
	if cfg.Guide != nil {
		work.spawn(func(ctx context.Context) { cfg.Guide.pass(ctx, send) })
	}
}

// passNotices shows what the program has to say to the user, until ctx ends.
func passNotices(ctx context.Context, notices <-chan string, send func(tea.Msg)) {
	for {
		select {
		case notice, open := <-notices:
			if !open {
				return
			}
			send(actionMsg{err: errors.New(notice)})
		case <-ctx.Done():
			return
		}
	}
}
