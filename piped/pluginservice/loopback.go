// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// firstWord is how long a connection over loopback may take to introduce itself. Clients of gRPC connect when
	// they have something to say, and say it at once, however late that is.
	firstWord = 20 * time.Second
	// maxSilent bounds the connections over loopback that have said nothing yet. Of more the oldest is closed, so
	// that silent ones keep no one out who speaks.
	maxSilent = 64
)

// loopback is the listener for plugins without a link. It bounds the connections of those who say nothing.
type loopback struct {
	net.Listener
	firstWord time.Duration

	mu     sync.Mutex
	silent []*loopbackConn // oldest first
}

func (l *loopback) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &loopbackConn{Conn: conn, listener: l}
	l.mu.Lock()
	l.silent = append(l.silent, c)
	var oldest *loopbackConn
	if len(l.silent) > maxSilent {
		oldest = l.silent[0]
	}
	l.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	return c, nil
}

func (l *loopback) forget(c *loopbackConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = slices.DeleteFunc(l.silent, func(other *loopbackConn) bool { return other == c })
}

type loopbackConn struct {
	net.Conn
	listener *loopback
	spoke    atomic.Bool
}

// Read ends the silence.
func (c *loopbackConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.spoke.CompareAndSwap(false, true) {
		c.listener.forget(c)
	}
	return n, err
}

// SetDeadline shortens that of the introduction, which the server shares with links. Later it has none.
func (c *loopbackConn) SetDeadline(t time.Time) error {
	if latest := time.Now().Add(c.listener.firstWord); t.After(latest) {
		t = latest
	}
	return c.Conn.SetDeadline(t)
}

func (c *loopbackConn) Close() error {
	c.listener.forget(c)
	return c.Conn.Close()
}
