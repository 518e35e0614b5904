// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/player"
)

// sessionPipe is what the connection to a session in this process holds, in bytes.
const sessionPipe = 256 << 10

// serveSession serves a session within this process; no one else reaches it.
func serveSession(api deckv1.DeckServiceServer) (deck deckv1.DeckServiceClient, stop func(), err error) {
	server := grpc.NewServer(grpc.UnaryInterceptor(player.Refuse), grpc.StreamInterceptor(player.RefuseStream))
	deckv1.RegisterDeckServiceServer(server, api)
	listener := bufconn.Listen(sessionPipe)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // it ends with stop
	}()
	conn, err := grpc.NewClient("passthrough:///session", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return listener.DialContext(ctx)
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxSessionMessage)))
	stop = func() {
		if conn != nil {
			_ = conn.Close()
		}
		server.Stop()
		<-served
	}
	if err != nil {
		stop()
		return nil, nil, err
	}
	return deckv1.NewDeckServiceClient(conn), stop, nil
}

// maxSessionMessage bounds one message of a session, in bytes.
const maxSessionMessage = 64 << 20
