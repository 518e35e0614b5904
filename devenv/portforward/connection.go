// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// maxReplay is how much of what a client has sent is kept, in bytes, until the pod answers.
const maxReplay = 64 << 10

// connection goes to any ready pod. When its pod refuses connections, it moves on to another pod and sends again what
// the client has written. It does so only until the first byte of an answer.
type connection struct {
	ctx    context.Context
	cancel context.CancelFunc
	dial   func(context.Context) (*stream, error)

	mu     sync.Mutex
	stream *stream
	// sent is what another pod would have to get; settled ends that.
	sent        []byte
	writeClosed bool
	settled     bool
	closed      bool
}

// newConnection dials; ctx ends the connection, too. dial goes to another pod each time.
func newConnection(ctx context.Context, dial func(context.Context) (*stream, error)) (*connection, error) {
	ctx, cancel := context.WithCancel(ctx)
	s, err := dial(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	return &connection{ctx: ctx, cancel: cancel, dial: dial, stream: s}, nil
}

func (c *connection) Read(p []byte) (int, error) {
	for {
		c.mu.Lock()
		s := c.stream
		c.mu.Unlock()
		n, err := s.Read(p)
		if n > 0 || err == nil {
			c.settle()
			return n, nil
		}
		if !errors.Is(err, errUndelivered) || !c.move(s) {
			return 0, err
		}
	}
}

func (c *connection) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled, c.sent = true, nil
}

// move goes on with another pod and reports whether it could.
func (c *connection) move(from *stream) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stream != from {
		return true
	}
	if c.settled || c.closed {
		return false
	}
	s, err := c.dial(c.ctx)
	if err != nil {
		return false
	}
	// When this fails, reading from it reports why.
	_, _ = s.Write(c.sent)
	if c.writeClosed {
		_ = s.CloseWrite()
	}
	_ = from.Close()
	c.stream = s
	return true
}

// Write keeps what it sends for another pod; reading reports when one is needed.
func (c *connection) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return 0, net.ErrClosed
	}
	s := c.stream
	if !c.settled {
		if c.sent = append(c.sent, p...); len(c.sent) > maxReplay {
			c.settled, c.sent = true, nil
		}
	}
	settled := c.settled
	c.mu.Unlock()
	n, err := s.Write(p)
	if err != nil && !settled {
		return len(p), nil
	}
	return n, err
}

// CloseWrite shows the pod that nothing more follows.
func (c *connection) CloseWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeClosed = true
	return c.stream.CloseWrite()
}

// Close ends the connection and a search for another pod.
func (c *connection) Close() error {
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.stream.Close()
}

// address stands for both ends of a connection; no caller needs the real ones.
type address struct{}

func (address) Network() string { return "port-forward" }
func (address) String() string  { return "pod" }

// LocalAddr implements net.Conn.
func (c *connection) LocalAddr() net.Addr { return address{} }

// RemoteAddr implements net.Conn.
func (c *connection) RemoteAddr() net.Addr { return address{} }

// SetDeadline implements net.Conn: there are none.
func (c *connection) SetDeadline(time.Time) error { return os.ErrNoDeadline }

// SetReadDeadline implements net.Conn: there are none.
func (c *connection) SetReadDeadline(time.Time) error { return os.ErrNoDeadline }

// SetWriteDeadline implements net.Conn: there are none.
func (c *connection) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

var (
	_ net.Conn  = (*connection)(nil)
	_ io.Closer = (*stream)(nil)
)
