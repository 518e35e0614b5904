// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

// connections are that to what is shown, and in a recorded session that of the program that recorded it.
type connections struct {
	Connection
	// lost is the second one while it is lost; nil otherwise.
	lost *Connection
}

// shown is the connection that watchers see.
func (c connections) shown() Connection {
	if c.lost != nil && c.State == Connected {
		return *c.lost
	}
	return c.Connection
}

// lostConnection is the connection of the program that recorded a session; nil while it had one.
func lostConnection(c *deckv1.Connection, at time.Time) *Connection {
	if c.GetLost() == "" {
		return nil
	}
	return &Connection{State: Disconnected, Reason: text.Line(c.GetLost()), Since: document.Moment(at)}
}
