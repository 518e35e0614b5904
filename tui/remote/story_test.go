// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"testing"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

func TestWatchersReadTheCaptionOfAStory(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	w := s.watch(t, 100, 30)
	w.seesText("WAIT_APPROVAL")
	s.deck.Publish(&deckv1.Caption{Text: "A user approves the stage.", Step: 2, Steps: 5,
		Focus: &deckv1.CaptionFocus{Step: 2, Pane: string(keymap.Environment)}})
	w.seesText("> A user approves the stage.")
	late := s.watch(t, 100, 30)
	late.seesText("> A user approves the stage.")
	late.seesText("WAIT_APPROVAL") // the focus is the watcher's
	late.types("q")
	late.leaves()
	w.types("q")
	w.leaves()
}
