// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package connlimit

import (
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// Bounds are the limits of a Listener. Zero is no limit.
type Bounds struct {
	// Connections is the number of open ones. While all of them are trusted, a new connection waits.
	Connections int
	// Untrusted is the number of open ones without trust. A new connection closes the oldest of them.
	Untrusted int
	// Time is how long a connection may stay open without trust.
	Time time.Duration
	// Bytes is what is read from a connection without trust.
	Bytes int
}

// Listener is a listener that bounds its open connections. When its places are taken, a new connection closes the
// oldest one without trust.
type Listener struct {
	net.Listener
	bounds Bounds
	closed chan struct{}
	once   sync.Once
	// freed holds a token after a place was released.
	freed chan struct{}

	mu        sync.Mutex
	open      int
	untrusted []*Conn // oldest first
}

// New bounds the connections of a listener, which it closes with itself.
func New(l net.Listener, bounds Bounds) *Listener {
	return &Listener{Listener: l, bounds: bounds, closed: make(chan struct{}), freed: make(chan struct{}, 1)}
}

// Accept returns the next connection, a *Conn, once it has a place.
func (l *Listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: conn, listener: l, unread: l.bounds.Bytes}
	for {
		taken, oldest := l.take(c)
		if taken {
			return c, nil
		}
		if oldest != nil {
			_ = oldest.Close()
			continue
		}
		select {
		case <-l.freed:
		case <-l.closed:
			return nil, errors.Join(net.ErrClosed, conn.Close())
		}
	}
}

// take returns the connection a place, or returns the connection that has to be closed first; nil when all are trusted.
func (l *Listener) take(c *Conn) (taken bool, oldest *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bounds
	if b.Connections > 0 && l.open >= b.Connections || b.Untrusted > 0 && len(l.untrusted) >= b.Untrusted {
		if len(l.untrusted) > 0 {
			oldest = l.untrusted[0]
		}
		return false, oldest
	}
	l.open++
	l.untrusted = append(l.untrusted, c)
	if b.Time > 0 {
		c.timer = time.AfterFunc(b.Time, func() { _ = c.Close() })
	}
	return true, nil
}

// Counts returns how many connections are open, and how many of them are not trusted.
func (l *Listener) Counts() (open, untrusted int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, len(l.untrusted)
}

// Close ends the listener and an Accept that waits. It leaves the connections open.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// trust removes the bounds of a connection.
func (l *Listener) trust(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(c)
}

// release frees the place of a connection that has ended.
func (l *Listener) release(c *Conn) {
	l.mu.Lock()
	l.forget(c)
	l.open--
	l.mu.Unlock()
	select {
	case l.freed <- struct{}{}:
	default: // Accept reads the counts again after one token
	}
}

// forget is for a connection that is trusted or has ended. The caller holds l.mu.
func (l *Listener) forget(c *Conn) {
	if c.timer != nil {
		c.timer.Stop()
	}
	l.untrusted = slices.DeleteFunc(l.untrusted, func(other *Conn) bool { return other == c })
}
