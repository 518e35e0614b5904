// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"testing"

	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/state"
)

func TestWhatIsToBeSaidOfAStateStaysUntilAKeyIsPressed(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	asked := false
	o := session{client: dial(t, server), width: 100, height: 30, saveDir: t.TempDir(),
		notices: Notices{Of: func(d *state.Deck) []string {
			if asked || len(d.Applications()) == 0 {
				return nil
			}
			asked = true
			return []string{"no stage WAIS", "no stage SOAK"}
		}}}
	s := o.start(t, context.Background())
	s.seesText("no stage WAIS; no stage SOAK")
	s.types("j")
	s.losesText("no stage WAIS")
}
