// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"errors"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/pipedeck/pipedeck/system/peeruser"
)

// caller identifies the program at the other end of a connection.
type caller struct {
	credentials.CommonAuthInfo
	// plugin is the name of the plugin whose private link it is; empty for loopback, where it may be any of
	// the plugins that were started without a link.
	plugin string
	// journal is that of the plugin process; nil for none.
	journal *journal
}

// AuthType makes caller a credentials.AuthInfo.
func (caller) AuthType() string { return "plugin" }

// callerOf returns the zero caller for a context that is not that of a request.
func callerOf(ctx context.Context) caller {
	if p, ok := peer.FromContext(ctx); ok {
		if c, ok := p.AuthInfo.(caller); ok {
			return c
		}
	}
	return caller{}
}

// pluginOf names the plugin that makes a call: the one of the link, or the only one without a link. Empty where there
// are several of those.
func (s *Server) pluginOf(ctx context.Context) string {
	if plugin := callerOf(ctx).plugin; plugin != "" {
		return plugin
	}
	if guests := s.guests.names(); len(guests) == 1 {
		return guests[0]
	}
	return ""
}

// linkConn is a plugin's private connection.
type linkConn struct {
	net.Conn
	plugin  string
	journal *journal
}

// identify reports to gRPC whose connection it is. Nothing is encrypted: no one else has the sockets of a link,
// and what PipeCD's plugins speak over loopback is plain.
type identify struct{}

func (identify) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if link, ok := conn.(linkConn); ok {
		return conn, caller{plugin: link.plugin, journal: link.journal}, nil
	}
	if err := peeruser.Check(conn); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, caller{}, nil
}

func (identify) ClientHandshake(_ context.Context, _ string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return conn, nil, errors.New("these are credentials of a server")
}

func (identify) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "plugin"}
}
func (i identify) Clone() credentials.TransportCredentials { return i }
func (identify) OverrideServerName(string) error           { return nil }

// links is a listener for connections that exist already.
type links struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func newLinks() *links {
	l := &links{conns: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// add gives up, and closes the connection, when no one accepts any more.
func (l *links) add(conn net.Conn) {
	select {
	case l.conns <- conn:
	case <-l.closed:
		_ = conn.Close()
	}
}

func (l *links) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *links) Close() error {
	l.close()
	return nil
}

func (l *links) Addr() net.Addr { return linkAddr{} }

type linkAddr struct{}

func (linkAddr) Network() string { return "link" }
func (linkAddr) String() string  { return "links to plugins" }
