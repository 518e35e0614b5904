// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// link is the connection to the deck API, and what it has sent.
type link struct {
	deck *state.Deck
	// client is nil before the first connection.
	client deckv1.DeckServiceClient
	// trouble is why there is no connection; nil while there is one and before the first.
	trouble error
	// silent is since when the server has sent nothing; the zero time while it does.
	silent time.Time
	// lost is since when the program that recorded a session had no connection; the zero time while it had one.
	lost time.Time
	// starting: the user has the environment started again.
	starting bool
}

// answers reports whether actions can be asked for.
func (l *link) answers() bool { return l.client != nil && l.trouble == nil && l.silent.IsZero() }

// stopped reports whether the environment's process was killed and none has taken its place.
func (l *link) stopped() bool { return errors.Is(l.trouble, ErrEnvironmentStopped) }

// restarting reports whether the environment's process ends, or has ended, for another one to take its place.
func (l *link) restarting() bool { return l.deck.Environment().GetRestarting() }

// take takes the messages of the feed; over reports that the environment is gone.
func (l *link) take(msg any) (over bool) {
	switch msg := msg.(type) {
	case silentMsg:
		l.silent = msg.since
	case connectedMsg:
		l.client, l.trouble, l.silent, l.lost = msg.client, nil, time.Time{}, time.Time{}
		l.deck.Restart()
	case eventsMsg:
		l.silent = time.Time{}
		for _, event := range msg.events {
			l.follow(event)
			l.deck.Apply(event)
		}
	case startedMsg:
		l.starting = false
	case disconnectedMsg:
		if l.starting && errors.Is(msg.err, ErrEnvironmentStopped) {
			return false
		}
		l.trouble, l.silent, l.lost = msg.err, time.Time{}, time.Time{}
		return errors.Is(msg.err, ErrEnvironmentGone) || (msg.ended || l.deck.Stopping()) && !l.restarting()
	}
	return false
}

// follow shows a recorded session as its environment was shown, also while the connection to that was lost.
func (l *link) follow(event *deckv1.Event) {
	connection := event.GetConnection()
	if connection == nil && event.GetReset_() == nil {
		return
	}
	l.trouble, l.lost = nil, time.Time{}
	if connection.GetLost() == "" {
		return
	}
	l.trouble, l.lost = errors.New(connection.GetLost()), event.GetTime().AsTime()
	if connection.GetStopped() {
		l.trouble = fmt.Errorf("%w: %w", ErrEnvironmentStopped, l.trouble)
	}
}

// startedMsg: the environment was started again, and clients may connect.
type startedMsg struct{}

// errStarting is why there is no connection while the environment is started again.
var errStarting = errors.New("it is starting")

// unstartable is why the environment cannot be started again now; empty when it can.
func (l *link) unstartable(h *host) string {
	switch {
	case l.starting:
		return "it is starting"
	case !l.stopped():
		return "it is running"
	case h.cfg.Start == nil && h.cfg.ReadOnly == "":
		return "it ends with its user interface"
	}
	return ""
}

// start has the environment started again; the screen stays as it is.
func (l *link) start(h *host) tea.Cmd {
	if h.cfg.Start == nil {
		return nil
	}
	l.starting, l.trouble = true, errStarting
	return h.work.do(func(ctx context.Context) tea.Msg {
		if err := h.cfg.Start(ctx); err != nil {
			return crashMsg{err}
		}
		return startedMsg{}
	})
}

// date notes until when the state is known: clocks of what the environment does stand still while it is not heard of.
func (l *link) date(h *host) {
	switch {
	case !l.silent.IsZero():
		h.known = l.silent
	case !l.lost.IsZero():
		h.known = l.lost
	case l.trouble == nil:
		h.known = h.now
	}
}

// banner is what is wrong with the connection, for the line above the keys; "" when nothing is.
func (l *link) banner(h *host) string {
	switch {
	case l.stopped() && h.cfg.Playback != nil: // the session may go on
		return "The environment has stopped: its process was killed."
	case l.stopped() && h.cfg.ReadOnly != "":
		return "The environment has stopped: its process was killed. Press " + h.key(keymap.Quit) + " to leave."
	case l.stopped():
		return "The environment has stopped: its process was killed. Press " + h.key(keymap.StartAgain) +
			" to start it again, " + h.key(keymap.Quit) + " to leave."
	case l.starting && l.trouble != nil:
		return "The environment is starting again" + h.theme.Ellipsis
	case l.trouble != nil && l.restarting():
		return "The environment starts again with other flags, reconnecting" + h.theme.Ellipsis
	case l.trouble != nil && l.client != nil:
		return "The environment is not answering, reconnecting" + h.theme.Ellipsis + "  (" + plain(l.trouble) + ")"
	case !l.silent.IsZero():
		return "No answer for " + l.silence(h) + ": its process hangs or is stopped; what you see is from before."
	}
	return ""
}

// silence is how long the server has been silent.
func (l *link) silence(h *host) string { return view.Ticking(h.now.Sub(l.silent)) }

// plain is the message of an error without the decoration of gRPC.
func plain(err error) string { return text.Line(status.Convert(err).Message()) }
