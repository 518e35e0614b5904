// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"net"
	"time"

	"github.com/pipedeck/pipedeck/system/connlimit"
)

const (
	// firstWord is how long a connection over loopback may take to introduce itself. Clients of gRPC connect when
	// they have something to say, and say it at once, however late that is.
	firstWord = 20 * time.Second
	// maxSilent bounds the connections over loopback that have said nothing yet. Of more the oldest is closed, so
	// that silent ones keep no one out who speaks.
	maxSilent = 64
)

// loopback is the listener for plugins without a link. A connection is trusted once it has said something: clients
// that say nothing keep no place from those that do.
type loopback struct {
	*connlimit.Listener
	firstWord time.Duration
}

func newLoopback(l net.Listener, firstWord time.Duration) *loopback {
	return &loopback{Listener: connlimit.New(l, connlimit.Bounds{Untrusted: maxSilent}), firstWord: firstWord}
}

func (l *loopback) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &loopbackConn{Conn: conn.(*connlimit.Conn), firstWord: l.firstWord}, nil
}

type loopbackConn struct {
	*connlimit.Conn
	firstWord time.Duration
}

// Read ends the silence.
func (c *loopbackConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.Trust()
	}
	return n, err
}

// SetDeadline shortens the deadline of the introduction, which the server shares with links. Later a connection has
// no deadline.
func (c *loopbackConn) SetDeadline(t time.Time) error {
	if latest := time.Now().Add(c.firstWord); t.After(latest) {
		t = latest
	}
	return c.Conn.SetDeadline(t)
}
