// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAListenerHasThePortOfItsName(t *testing.T) {
	t.Parallel()
	name := t.Name() + t.TempDir() // other runs have other ports
	first, err := ListenFor(name, 0)
	require.NoError(t, err)
	second, err := ListenFor(name, 0)
	require.NoError(t, err)
	defer second.Close()
	require.NotEqual(t, first.Addr(), second.Addr(), "the port is taken")
	address := first.Addr().String()
	require.NoError(t, first.Close())
	again, err := ListenFor(name, 0)
	require.NoError(t, err)
	require.Equal(t, address, again.Addr().String())
	require.NoError(t, again.Close())

	port := second.Addr().(*net.TCPAddr).Port
	require.NoError(t, second.Close())
	third, err := ListenFor(name, port)
	require.NoError(t, err)
	defer third.Close()
	require.Equal(t, port, third.Addr().(*net.TCPAddr).Port, "the port that it had before comes first")
}

func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	listener, err := Listen(0)
	require.NoError(t, err)
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	e.Set([]Address{p.start("pod")}, 0)
	server := NewTCP(e.Dial, never(t))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	greeted := func() net.Conn {
		conn, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	text := make([]byte, 3)
	var first net.Conn
	for i := range maxConnections {
		conn := greeted()
		_, err := io.ReadFull(conn, text)
		require.NoError(t, err)
		if i == 0 {
			first = conn
		}
	}
	waiting := greeted()
	require.NoError(t, waiting.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err = io.ReadFull(waiting, text)
	require.Error(t, err, "it waits")
	require.NoError(t, first.Close())
	require.NoError(t, waiting.SetReadDeadline(time.Now().Add(longest)))
	_, err = io.ReadFull(waiting, text)
	require.NoError(t, err)
	require.NoError(t, server.Close())
	<-served
}
