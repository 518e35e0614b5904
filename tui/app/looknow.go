// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// lookTimeout bounds the wait for a look at a live state: piped gives up earlier.
const lookTimeout = 30 * time.Minute

// lookOrReach does one of the actions about the application itself.
func lookOrReach(a *actions, action keymap.Action, t *toast) tea.Cmd {
	if action == keymap.Reach {
		return a.start(a.reach())
	}
	return tea.Batch(t.note("looking for drift in "+a.chosen.name()+a.host.theme.Ellipsis), lookNow(a))
}

// lookNow has piped look at the live state of the application, and says how that went. Users may leave meanwhile: it
// changes nothing.
func lookNow(a *actions) tea.Cmd {
	client, id, name := a.link.client, a.chosen.application().GetId(), a.chosen.name()
	return a.host.work.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		looked, err := client.LookAtApplication(ctx, &deckv1.LookAtApplicationRequest{ApplicationId: id})
		switch {
		case err != nil:
			return actionMsg{err: fmt.Errorf("cannot look for drift in %s: %s", name, plain(err))}
		case looked.GetError() != "":
			return actionMsg{err: fmt.Errorf("cannot look for drift in %s: %s", name, text.Line(looked.GetError()))}
		}
		return actionMsg{done: "looked for drift in " + name + ": " + view.Duration(looked.GetTook().AsDuration())}
	})
}
