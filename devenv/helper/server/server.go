// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"

	"google.golang.org/grpc"

	helperv1 "github.com/pipedeck/pipedeck/api/helper/v1"
	"github.com/pipedeck/pipedeck/devenv/helper"
	"github.com/pipedeck/pipedeck/devenv/image/archive"
	"github.com/pipedeck/pipedeck/devenv/portforward"
)

// Server serves the helper API.
type Server struct {
	helperv1.UnimplementedHelperServiceServer
	logger    *slog.Logger
	forwarder *portforward.Forwarder
	health    health
}

// ServeParent serves the process that has started this one, on the socket that it passed. It returns when that process
// is gone or has closed the socket, without waiting for calls: the process ends then.
func ServeParent(ctx context.Context, logger *slog.Logger) error {
	file := os.NewFile(helper.Socket, "socket")
	if file == nil {
		return fmt.Errorf("there is no socket: only pipedeck starts this command")
	}
	conn, err := net.FileConn(file)
	if err != nil {
		return fmt.Errorf("there is no socket: only pipedeck starts this command: %w", err)
	}
	_ = file.Close() // the connection has its own
	return Serve(ctx, conn, logger)
}

// Serve is ServeParent on any connection.
func Serve(ctx context.Context, conn net.Conn, logger *slog.Logger) error {
	listener := newOne(conn)
	server := grpc.NewServer()
	helperv1.RegisterHelperServiceServer(server, &Server{logger: logger, forwarder: portforward.New(logger)})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case <-listener.closed:
	case <-ctx.Done():
	case err := <-served:
		return err
	}
	return nil
}

// one is a listener with one connection.
type one struct {
	conns  chan net.Conn
	closed chan struct{}
	conn   net.Conn
}

func newOne(conn net.Conn) *one {
	l := &one{conns: make(chan net.Conn, 1), closed: make(chan struct{}), conn: conn}
	l.conns <- &watched{Conn: conn, closed: sync.OnceFunc(func() { close(l.closed) })}
	return l
}

func (l *one) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *one) Close() error { return nil }

func (l *one) Addr() net.Addr { return l.conn.LocalAddr() }

// watched reports that it was closed, which gRPC does when the other end has gone.
type watched struct {
	net.Conn
	closed func()
}

func (c *watched) Close() error {
	defer c.closed()
	return c.Conn.Close()
}

// WriteArchive implements helperv1.HelperServiceServer.
func (*Server) WriteArchive(
	ctx context.Context, r *helperv1.WriteArchiveRequest,
) (response *helperv1.WriteArchiveResponse, err error) {
	response = &helperv1.WriteArchiveResponse{}
	if program := r.GetProgram(); program != nil {
		response.Size, err = archive.Writer{}.Write(ctx, program.GetPath(), program.GetOs(), program.GetArchitecture(),
			r.GetReferences(), r.GetPath())
	} else {
		response.Size, err = archive.Writer{}.Rename(ctx, r.GetArchive(), r.GetReferences(), r.GetPath())
	}
	return response, helper.Encode(err)
}
