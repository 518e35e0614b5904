// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// running is a server, with a time to introduce oneself that tests can wait for.
func running(t *testing.T, firstWord time.Duration) *Server {
	t.Helper()
	s, err := Listen(Options{Registry: NewRegistry(), Commands: NewCommands(), Guarded: true})
	require.NoError(t, err)
	s.listener.firstWord = firstWord
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return s
}

func silence(t *testing.T, s *Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	return conn
}

// ended waits until the server has closed a connection.
func ended(t *testing.T, conn net.Conn) {
	t.Helper()
	_, err := io.Copy(io.Discard, conn)
	if timeout, ok := err.(net.Error); ok { // a reset is an end, too
		require.False(t, timeout.Timeout(), "the connection is still open")
	}
}

func ask(t *testing.T, conn *grpc.ClientConn) error {
	t.Helper()
	_, err := pluginservice.NewPluginServiceClient(conn).GetDeploymentSharedMetadata(
		t.Context(), &pluginservice.GetDeploymentSharedMetadataRequest{DeploymentId: "d", Key: "k"},
	)
	return err
}

func TestOfManySilentConnectionsTheOldestAreClosedAndWhoSpeaksIsHeard(t *testing.T) {
	t.Parallel()
	s := running(t, time.Hour)
	var conns []net.Conn
	for range maxSilent + 10 {
		conns = append(conns, silence(t, s))
	}
	for _, conn := range conns[:10] {
		ended(t, conn)
	}
	client, err := grpc.NewClient(s.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer client.Close()
	require.Equal(t, codes.PermissionDenied, status.Code(ask(t, client)), "it was answered")
	_, silent := s.listener.Counts()
	require.LessOrEqual(t, silent, maxSilent)
}

func TestASilentConnectionIsClosedAndOneThatSpokeIsNot(t *testing.T) {
	t.Parallel()
	s := running(t, 5*time.Second)
	client, err := grpc.NewClient(s.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer client.Close()
	require.Equal(t, codes.PermissionDenied, status.Code(ask(t, client)))
	state := client.GetState()
	ended(t, silence(t, s)) // began later than the other
	require.Equal(t, state, client.GetState())
	require.Equal(t, codes.PermissionDenied, status.Code(ask(t, client)), "over the same connection")
}
