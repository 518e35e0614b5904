// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package connlimit

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// ErrTooMuch is the error of a Read from a connection that has sent all it may without trust.
var ErrTooMuch = errors.New("the connection has sent too much before the server trusts it")

// Conn is a connection with a place at its Listener.
type Conn struct {
	net.Conn
	listener *Listener
	// timer ends a connection without trust; nil without a limit. It belongs to Listener.take.
	timer    *time.Timer
	trusted  atomic.Bool
	released sync.Once
	// unread is what may still be read without trust. Only one goroutine reads at a time.
	unread int
}

// Trust removes the bounds: the connection keeps its place until it is closed. It may be called again.
func (c *Conn) Trust() {
	if c.trusted.CompareAndSwap(false, true) {
		c.listener.trust(c)
	}
}

// Read fails with ErrTooMuch when a connection without trust has sent all that it may.
func (c *Conn) Read(b []byte) (int, error) {
	if c.listener.bounds.Bytes == 0 || c.trusted.Load() {
		return c.Conn.Read(b)
	}
	if c.unread == 0 && len(b) > 0 {
		return 0, ErrTooMuch
	}
	n, err := c.Conn.Read(b[:min(len(b), c.unread)])
	c.unread -= n
	return n, err
}

// Close frees the place.
func (c *Conn) Close() error {
	err := c.Conn.Close()
	c.released.Do(func() { c.listener.release(c) })
	return err
}
