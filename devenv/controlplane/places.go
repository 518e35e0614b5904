// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// keyTimeout is how long a connection may stay open without a call that carries a valid key.
	keyTimeout = 10 * time.Second
	// keylessBytes bounds all that is read from a connection before such a call: several hundred calls of a piped with
	// a wrong key, and little memory for maxConnections of them.
	keylessBytes = 64 << 10
)

var errKeyless = errors.New("the connection has sent too much without a valid key")

// places is a listener that bounds the open connections. Callers with a valid key keep their places: a connection
// without one is closed when it takes too long, sends too much, or is the oldest of them when a new one arrives and all
// places are taken. When callers with keys have taken all places, a new connection waits.
type places struct {
	net.Listener
	max     int
	timeout time.Duration
	closed  chan struct{}
	once    sync.Once
	// freed holds a token after a place was released.
	freed chan struct{}

	mu      sync.Mutex
	open    int
	keyless []*connection // oldest first
}

func newPlaces(l net.Listener, connections int, timeout time.Duration) *places {
	return &places{Listener: l, max: connections, timeout: timeout, closed: make(chan struct{}),
		freed: make(chan struct{}, 1)}
}

func (p *places) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, places: p, budget: keylessBytes}
	for {
		taken, oldest := p.take(c)
		if taken {
			return c, nil
		}
		if oldest != nil {
			_ = oldest.Close()
			continue
		}
		select {
		case <-p.freed:
		case <-p.closed:
			return nil, errors.Join(net.ErrClosed, conn.Close())
		}
	}
}

// take gives the connection a place, or returns the connection that has to be closed first; nil when all have keys.
func (p *places) take(c *connection) (taken bool, oldest *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open < p.max {
		p.open++
		p.keyless = append(p.keyless, c)
		c.timer = time.AfterFunc(p.timeout, func() { _ = c.Close() })
		return true, nil
	}
	if len(p.keyless) > 0 {
		return false, p.keyless[0]
	}
	return false, nil
}

// keep is called when a connection has shown a key.
func (p *places) keep(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(c)
}

func (p *places) release(c *connection) {
	p.mu.Lock()
	p.forget(c)
	p.open--
	p.mu.Unlock()
	select {
	case p.freed <- struct{}{}:
	default: // one is enough: Accept looks again
	}
}

// forget is for a connection that has a key or has ended: nothing bounds its time any more.
func (p *places) forget(c *connection) {
	c.timer.Stop()
	p.keyless = slices.DeleteFunc(p.keyless, func(other *connection) bool { return other == c })
}

func (p *places) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.Listener.Close()
}

// connection has a place.
type connection struct {
	net.Conn
	places *places
	// timer ends a connection without a key; it belongs to places.take.
	timer    *time.Timer
	keyed    atomic.Bool
	released sync.Once
	// budget is what may still be read without a key. Only one goroutine reads at a time.
	budget int
}

// showedKey keeps the place.
func (c *connection) showedKey() {
	if c.keyed.CompareAndSwap(false, true) {
		c.places.keep(c)
	}
}

// Read fails when a connection without a key has sent all that it may.
func (c *connection) Read(b []byte) (int, error) {
	if c.keyed.Load() {
		return c.Conn.Read(b)
	}
	if c.budget == 0 && len(b) > 0 {
		return 0, errKeyless
	}
	n, err := c.Conn.Read(b[:min(len(b), c.budget)])
	c.budget -= n
	return n, err
}

func (c *connection) Close() error {
	err := c.Conn.Close()
	c.released.Do(func() { c.places.release(c) })
	return err
}
