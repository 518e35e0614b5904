// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/reader"
)

func TestReadingGoesOnInTheNextProcessOfTheEnvironment(t *testing.T) {
	t.Parallel()
	restarting := decktest.Environment()
	restarting.Restarting = true
	before, after := decktest.Start(t), decktest.Start(t)
	before.Publish(decktest.Environment(), decktest.Components()[4], decktest.Application(), restarting)
	before.End()
	after.Publish(decktest.Environment(), decktest.Components()[4], decktest.Application(), decktest.Canary())
	after.End()
	var clients []deckv1.DeckServiceClient
	next := func(context.Context) (deckv1.DeckServiceClient, error) {
		if len(clients) == 0 {
			return nil, reader.ErrEnded
		}
		client := clients[0]
		clients = nil
		return client, nil
	}
	for name, c := range map[string]struct {
		to   read
		says string
	}{
		"plain":  {reader.Plain, "environment  default  starts again with other flags"},
		"reader": {reader.Sentences, "Environment default starts again with other flags."},
	} {
		clients = []deckv1.DeckServiceClient{after.Dial(t)}
		var out bytes.Buffer
		require.ErrorIs(t, c.to(t.Context(), before.Dial(t), &out, reader.Options{Next: next}), reader.ErrEnded, name)
		said := out.String()
		require.Contains(t, said, c.says)
		require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("pid 20114, 4 plugins")), "%s: what stays is no news:\n%s",
			name, said)
		require.Contains(t, said, "K8S_CANARY_ROLLOUT", name)
	}
}
