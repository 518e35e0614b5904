// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Notices are what the program has to say to the user.
type Notices struct {
	// News are shown as they come; nil for none.
	News <-chan string
	// Of returns what is to be said of a state, after each change of it, and each text once; nil for nothing.
	Of func(*state.Deck) []string
}

// of shows what is to be said of a state.
func (n Notices) of(d *state.Deck, toast *toast) tea.Cmd {
	if n.Of == nil {
		return nil
	}
	lines := n.Of(d)
	if len(lines) == 0 {
		return nil
	}
	return toast.say(text.Line(strings.Join(lines, "; ")), true)
}

// beginNotices shows what the program says, until the UI ends.
func beginNotices(work *work, cfg Config, send func(tea.Msg)) {
	work.spawn(func(ctx context.Context) { passNotices(ctx, cfg.Notices.News, send) })
	if cfg.Guest != nil {
		work.spawn(func(ctx context.Context) { cfg.Guest.passSizes(ctx, send) })
	}
	if cfg.Share != nil {
		work.spawn(func(ctx context.Context) { cfg.Share.pass(ctx, send) })
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
