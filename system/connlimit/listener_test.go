// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package connlimit_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/connlimit"
)

// patience bounds every wait of these tests.
const patience = time.Minute

func listen(t *testing.T, bounds connlimit.Bounds) *connlimit.Listener {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := connlimit.New(inner, bounds)
	t.Cleanup(func() { _ = p.Close() })
	timer := time.AfterFunc(patience, func() { _ = p.Close() }) // ends an Accept that waits for ever
	t.Cleanup(func() { timer.Stop() })
	return p
}

// connect returns both ends of a connection.
func connect(t *testing.T, p *connlimit.Listener) (client net.Conn, server *connlimit.Conn) {
	t.Helper()
	client, err := net.Dial("tcp", p.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	accepted, err := p.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = accepted.Close() })
	require.NoError(t, accepted.SetReadDeadline(time.Now().Add(patience)))
	return client, accepted.(*connlimit.Conn)
}

// closed waits until the server has closed a connection.
func closed(t *testing.T, client net.Conn) {
	t.Helper()
	require.NoError(t, client.SetReadDeadline(time.Now().Add(patience)))
	_, err := io.Copy(io.Discard, client)
	if timeout, ok := err.(net.Error); ok { // a reset is an end, too
		require.False(t, timeout.Timeout(), "the connection is still open")
	}
}

func TestTheOldestConnectionWithoutTrustMakesRoom(t *testing.T) {
	t.Parallel()
	p := listen(t, connlimit.Bounds{Connections: 3, Time: time.Hour})
	_, trusted := connect(t, p)
	trusted.Trust()
	second, _ := connect(t, p)
	third, _ := connect(t, p)
	connect(t, p)
	closed(t, second)
	connect(t, p)
	closed(t, third)
	open, untrusted := p.Counts()
	require.Equal(t, 3, open)
	require.Equal(t, 2, untrusted, "the trusted connection keeps its place")
}

func TestUntrustedConnectionsHaveASeparateBound(t *testing.T) {
	t.Parallel()
	p := listen(t, connlimit.Bounds{Untrusted: 2})
	_, trusted := connect(t, p)
	trusted.Trust()
	trusted.Trust()
	first, _ := connect(t, p)
	connect(t, p)
	connect(t, p)
	closed(t, first)
	open, untrusted := p.Counts()
	require.Equal(t, 3, open)
	require.Equal(t, 2, untrusted)
}

func TestAConnectionWaitsWhileAllPlacesAreTrusted(t *testing.T) {
	t.Parallel()
	p := listen(t, connlimit.Bounds{Connections: 1, Time: time.Hour})
	_, first := connect(t, p)
	first.Trust()
	client, err := net.Dial("tcp", p.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	accepted := make(chan error, 1)
	accept := func() {
		conn, err := p.Accept()
		if err == nil {
			conn.(*connlimit.Conn).Trust()
		}
		accepted <- err
	}
	go accept()
	require.Empty(t, accepted)
	require.NoError(t, first.Close())
	require.ErrorIs(t, first.Close(), net.ErrClosed)
	require.NoError(t, <-accepted)
	another, err := net.Dial("tcp", p.Addr().String())
	require.NoError(t, err)
	defer another.Close()
	go accept()
	require.NoError(t, p.Close())
	require.ErrorIs(t, <-accepted, net.ErrClosed)
}

func TestAConnectionWithoutTrustEndsByItsTimeAndByWhatItSends(t *testing.T) {
	t.Parallel()
	brief := listen(t, connlimit.Bounds{Connections: 1, Time: 50 * time.Millisecond})
	client, _ := connect(t, brief)
	closed(t, client)

	const bytes = 64 << 10
	p := listen(t, connlimit.Bounds{Connections: 2, Time: time.Hour, Bytes: bytes})
	client, server := connect(t, p)
	go func() { _, _ = client.Write(make([]byte, 2*bytes)) }()
	n, err := io.Copy(io.Discard, server)
	require.ErrorIs(t, err, connlimit.ErrTooMuch)
	require.EqualValues(t, bytes, n)

	client, server = connect(t, p)
	server.Trust()
	go func() {
		_, _ = client.Write(make([]byte, 2*bytes))
		_ = client.Close()
	}()
	n, err = io.Copy(io.Discard, server)
	require.NoError(t, err)
	require.EqualValues(t, 2*bytes, n)
}
