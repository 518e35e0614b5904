// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"

	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// link is the connection to the deck API, and what it has sent.
type link struct {
	deck *state.Deck
	// client is nil before the first connection.
	client deckv1.DeckServiceClient
	// trouble is why there is no connection; nil while there is one and before the first.
	trouble error
}

// answers reports whether actions can be asked for.
func (l *link) answers() bool { return l.client != nil && l.trouble == nil }

// stopped reports whether the environment's process was killed and none has taken its place.
func (l *link) stopped() bool { return errors.Is(l.trouble, ErrEnvironmentStopped) }

// take takes the messages of the feed; over reports that the environment is gone.
func (l *link) take(msg any) (over bool) {
	switch msg := msg.(type) {
	case connectedMsg:
		l.client, l.trouble = msg.client, nil
		l.deck.Restart()
	case eventsMsg:
		for _, event := range msg.events {
			l.deck.Apply(event)
		}
	case disconnectedMsg:
		l.trouble = msg.err
		return msg.ended || l.deck.Stopping()
	}
	return false
}

// plain is the message of an error without the decoration of gRPC.
func plain(err error) string { return text.Line(status.Convert(err).Message()) }
