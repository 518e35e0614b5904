// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
)

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
