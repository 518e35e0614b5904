// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds every wait of these tests.
const patience = time.Minute

func testPlaces(t *testing.T, connections int, timeout time.Duration) *places {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := newPlaces(inner, connections, timeout)
	t.Cleanup(func() { _ = p.Close() })
	timer := time.AfterFunc(patience, func() { _ = p.Close() }) // ends an Accept that waits for ever
	t.Cleanup(func() { timer.Stop() })
	return p
}

// connect returns both ends of a connection.
func connect(t *testing.T, p *places) (client net.Conn, server *connection) {
	t.Helper()
	client, err := net.Dial("tcp", p.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	accepted, err := p.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = accepted.Close() })
	require.NoError(t, accepted.SetReadDeadline(time.Now().Add(patience)))
	return client, accepted.(*connection)
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

func TestTheOldestConnectionWithoutAKeyMakesRoom(t *testing.T) {
	t.Parallel()
	p := testPlaces(t, 3, time.Hour)
	_, keyed := connect(t, p)
	keyed.showedKey()
	second, _ := connect(t, p)
	third, _ := connect(t, p)
	connect(t, p)
	closed(t, second)
	connect(t, p)
	closed(t, third)
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Equal(t, 3, p.open)
	require.Len(t, p.keyless, 2)
	require.NotContains(t, p.keyless, keyed)
}

func TestAConnectionWaitsWhileAllPlacesHaveKeys(t *testing.T) {
	t.Parallel()
	p := testPlaces(t, 1, time.Hour)
	_, first := connect(t, p)
	first.showedKey()
	client, err := net.Dial("tcp", p.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	accepted := make(chan error, 1)
	accept := func() {
		conn, err := p.Accept()
		if err == nil {
			conn.(*connection).showedKey()
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

func TestAConnectionWithoutAKeyEndsByItsTimeAndByWhatItSends(t *testing.T) {
	t.Parallel()
	brief := testPlaces(t, 1, 50*time.Millisecond)
	client, _ := connect(t, brief)
	closed(t, client)

	p := testPlaces(t, 2, time.Hour)
	client, server := connect(t, p)
	go func() { _, _ = client.Write(make([]byte, 2*keylessBytes)) }()
	n, err := io.Copy(io.Discard, server)
	require.ErrorIs(t, err, errKeyless)
	require.EqualValues(t, keylessBytes, n)

	client, server = connect(t, p)
	server.showedKey()
	go func() {
		_, _ = client.Write(make([]byte, 2*keylessBytes))
		_ = client.Close()
	}()
	n, err = io.Copy(io.Discard, server)
	require.NoError(t, err)
	require.EqualValues(t, 2*keylessBytes, n)
}
