// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestTheFirstScreenComesBeforeTheTerminalIsAskedAnything(t *testing.T) {
	t.Parallel()
	never := func(ctx context.Context) (deckv1.DeckServiceClient, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s := play(t, never, 80, 24, seams{})
	s.seesText("pipedeck")
	s.sees("a question", func(string) bool {
		return strings.Contains(s.raw.String(), ansi.RequestModeSynchronizedOutput)
	})
	s.mu.Lock()
	first, _, _ := strings.Cut(s.raw.String(), ansi.RequestModeSynchronizedOutput)
	s.mu.Unlock()
	require.True(t, strings.HasPrefix(first, ansi.SetModeAltScreenSaveCursor), "nothing is written over what was there")
	require.Contains(t, first, "pipedeck")
	require.NotContains(t, strings.TrimPrefix(first, enterScreen), "\x1b", "colours are not known yet")
}
