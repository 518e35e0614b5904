// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/recording"
)

// On a busy machine the other side may take a while to answer. Its connection is not given up for another one, because
// gRPC may give up one that a call uses already.
func TestAProxyKeepsAConnectionThatIsSlowToAnswer(t *testing.T) {
	t.Parallel()
	writer, err := recording.NewWriter(recording.WriterOptions{File: filepath.Join(t.TempDir(), "calls.jsonl")})
	require.NoError(t, err)
	slow := listenTCP(t)
	front := listenTCP(t)
	proxy, err := recording.StartProxy(front, slow.Addr().String(), false, writer)
	require.NoError(t, err)

	conn, err := grpc.NewClient("passthrough:///"+front.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	require.NoError(t, err)
	answered := make(chan error, 1)
	go func() {
		_, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
		answered <- err
	}()
	first, err := slow.Accept()
	require.NoError(t, err)
	require.NoError(t, slow.SetDeadline(time.Now().Add(20*10*time.Millisecond))) // 20 times the first pause
	_, err = slow.Accept()
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)

	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	served := make(chan error, 1)
	only := &given{Listener: slow, conns: make(chan net.Conn, 1)}
	only.conns <- first
	go func() { served <- server.Serve(only) }()
	require.NoError(t, <-answered)

	require.NoError(t, conn.Close())
	require.NoError(t, proxy.Stop())
	close(only.conns)
	server.Stop()
	require.NoError(t, <-served)
	require.NoError(t, writer.Close())
}

func listenTCP(t *testing.T) *net.TCPListener {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return listener.(*net.TCPListener)
}

// given accepts connections that are made already.
type given struct {
	net.Listener
	conns chan net.Conn
}

func (g *given) Accept() (net.Conn, error) {
	if conn, more := <-g.conns; more {
		return conn, nil
	}
	return nil, net.ErrClosed
}
