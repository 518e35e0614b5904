// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Dial returns a connection to the control plane at address (host:port, host on this machine) that
// sends the API key with every call. It does not wait for the server; calls fail with Unavailable
// while there is none. The caller closes the connection.
func Dial(address, apiKey string) (*grpc.ClientConn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial the control plane at %q: the address must be host:port: %w", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil,
			fmt.Errorf("dial the control plane at %q: the API key goes unencrypted and only to this machine; use "+
				"127.0.0.1", address)
	}
	conn, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(key(apiKey)),
		grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes)),
	)
	if err != nil {
		return nil, fmt.Errorf("dial the control plane at %q: %w", address, err)
	}
	return conn, nil
}

// One deployment or plugin with all its text can pass gRPC's 4 MiB.
const maxMessageBytes = 64 << 20

type key string

func (k key) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "API-KEY " + string(k)}, nil
}

func (key) RequireTransportSecurity() bool { return false }
