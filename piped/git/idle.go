// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/net/proxy"
)

const (
	// connectTimeout bounds the TCP connection to a server.
	connectTimeout = 30 * time.Second
	// idleTimeout bounds the silence of a server, from the connection to the last byte of a pack. Git's own
	// says something every 5 s while it prepares a pack (uploadpack.keepAlive).
	idleTimeout = time.Minute
)

// dial connects to a server, by the proxy of ALL_PROXY where there is one. The connection is closed when ctx
// ends, so whoever waits for the server then waits no longer; release ends that.
func (r *remote) dial(ctx context.Context, address string) (conn *idleConn, release func(), err error) {
	connecting, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	dialed, err := proxy.Dial(connecting, "tcp", address)
	if err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return nil, nil, &silentError{after: connectTimeout}
		}
		return nil, nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	conn = &idleConn{Conn: dialed, idle: r.idle}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	return conn, func() { stop(); conn.Close() }, nil
}

// idleConn fails when its peer is silent, or takes nothing, for longer than idle.
type idleConn struct {
	net.Conn
	idle time.Duration
	// silent is set once it has failed so.
	silent atomic.Bool
}

// Read waits for the peer no longer than idle.
func (c *idleConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	return n, c.failed(err)
}

// Write waits for the peer no longer than idle.
func (c *idleConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	return n, c.failed(err)
}

func (c *idleConn) failed(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.silent.Store(true)
		return &silentError{after: c.idle}
	}
	return err
}

// overConn reads what comes over a connection by way of a protocol that takes its failure for the end.
type overConn struct {
	io.Reader
	conn *idleConn
}

// Read fails with the failure of the connection.
func (o *overConn) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if err != nil && o.conn.silent.Load() {
		err = &silentError{after: o.conn.idle}
	}
	return n, err
}

// silentError is a net.Error.
type silentError struct{ after time.Duration }

// Error says how long.
func (e *silentError) Error() string {
	return fmt.Sprintf("the server was silent for %s", e.after)
}

// Timeout is true.
func (*silentError) Timeout() bool { return true }

// Temporary is what net.Error still asks for.
func (*silentError) Temporary() bool { return true }

var _ net.Error = (*silentError)(nil)
