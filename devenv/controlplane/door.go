// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/tap"

	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
	"github.com/pipedeck/pipedeck/system/connlimit"
	"github.com/pipedeck/pipedeck/system/peeruser"
)

// maxHeaderBytes bounds the metadata of a call. A caller sends its key and little else.
const maxHeaderBytes = 16 << 10

// door lets connections of the environment's user in, and calls with a key: it checks the key when the headers of a
// call have arrived, before any of its message is read. gRPC gets it as the credentials of the server, too, although
// nothing is encrypted: they are what sees a connection before gRPC reads from it.
type door struct {
	auth     *auth.Authenticator
	refusals *refusals
}

// seat is what gRPC keeps with a connection, and gives to each call on it.
type seat struct {
	credentials.CommonAuthInfo
	connection *connlimit.Conn // nil for a listener without bounds
}

// AuthType makes seat a credentials.AuthInfo.
func (seat) AuthType() string { return "key" }

// call is a tap.ServerInHandle.
func (d *door) call(ctx context.Context, info *tap.Info) (context.Context, error) {
	ctx, err := d.auth.Check(ctx, info.FullMethodName, info.Header)
	if err != nil {
		return nil, err
	}
	if auth.Piped(ctx) == "" && auth.APIKeyID(ctx) == "" {
		return ctx, nil // a call that needs no key shows none
	}
	if p, ok := peer.FromContext(ctx); ok {
		if s, ok := p.AuthInfo.(seat); ok && s.connection != nil {
			s.connection.Trust()
		}
	}
	return ctx, nil
}

// ServerHandshake refuses processes of other users, where the system knows the user.
func (d *door) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if err := peeruser.Check(conn); err != nil {
		d.refusals.refused("a connection", err)
		return nil, nil, errors.Join(err, conn.Close())
	}
	c, _ := conn.(*connlimit.Conn)
	return conn, seat{connection: c}, nil
}

// ClientHandshake fails: no client has these credentials.
func (d *door) ClientHandshake(_ context.Context, _ string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return conn, nil, errors.New("these are credentials of a server")
}

// Info names what is not used on the wire.
func (d *door) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "key"}
}

// Clone returns the same door, which has no state of a connection.
func (d *door) Clone() credentials.TransportCredentials { return d }

// OverrideServerName does nothing: a door has no name.
func (d *door) OverrideServerName(string) error { return nil }

var _ credentials.TransportCredentials = (*door)(nil)
