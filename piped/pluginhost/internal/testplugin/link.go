// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"log"
	"net"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// connections are how the plugin and piped reach each other.
type connections struct {
	config   string
	listener net.Listener
	piped    *grpc.ClientConn
}

// link takes what piped hands over, or nil.
func link() *connections {
	if os.Getenv("PIPEDECK_PLUGIN_LINK_V1") != "4,5,6" {
		return nil
	}
	config, err := io.ReadAll(os.NewFile(4, "config"))
	if err != nil {
		log.Fatal("config: ", err)
	}
	serve, service := inherited(5), inherited(6)
	piped, err := grpc.NewClient("passthrough:///piped", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return service, nil }))
	if err != nil {
		log.Fatal(err)
	}
	return &connections{config: strings.TrimSpace(string(config)), listener: &one{conn: serve}, piped: piped}
}

func inherited(fd uintptr) net.Conn {
	file := os.NewFile(fd, "link")
	defer file.Close() // the connection has its own descriptor
	conn, err := net.FileConn(file)
	if err != nil {
		log.Fatal("link: ", err)
	}
	return conn
}

// one is a listener with one connection.
type one struct {
	conn net.Conn
	done bool
}

func (l *one) Accept() (net.Conn, error) {
	if l.done {
		select {}
	}
	l.done = true
	return l.conn, nil
}

func (l *one) Close() error   { return nil }
func (l *one) Addr() net.Addr { return l.conn.LocalAddr() }
