// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestTheUIStaysWhileTheProcessOfTheEnvironmentIsReplaced(t *testing.T) {
	t.Parallel()
	before, after := decktest.Start(t), decktest.Start(t)
	before.Publish(decktest.Running()...)
	after.Publish(decktest.Running()...)
	type answer struct {
		server *decktest.Server
		err    error
	}
	answers := make(chan answer, 8)
	answers <- answer{server: before}
	s := play(t, func(ctx context.Context) (deckv1.DeckServiceClient, error) {
		select {
		case a := <-answers:
			if a.err != nil {
				return nil, a.err
			}
			return a.server.Dial(t), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, 100, 24, seams{})
	s.seesText("press a to approve")

	restarting := decktest.Environment()
	restarting.Restarting = true
	stopped := decktest.Components()[4]
	stopped.State = deckv1.Component_STATE_STOPPED
	before.Publish(restarting, stopped)
	before.End()
	s.seesText("The environment starts again with other flags, reconnecting", "hello-world")
	answers <- answer{err: errors.New("its process starts again")}
	answers <- answer{server: after}
	s.losesText("starts again")
	s.seesText("press a to approve")

	before.Publish(restarting)
	answers <- answer{server: before}
	after.Break()
	s.seesText("starts again")
	answers <- answer{err: fmt.Errorf("none has come: %w", ErrEnvironmentGone)}
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, EnvironmentGone, outcome)
}
