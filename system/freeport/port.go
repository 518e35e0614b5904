// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package freeport chooses TCP ports for programs that are started next.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

const (
	// firstPort and endPort are below the ports that Linux and macOS give to connections and to servers that ask for
	// any port, and below those of Kubernetes' Services: none of these takes a port between its choice and its use.
	firstPort, endPort = 20_000, 30_000
	tries              = 200
)

// next is where Choose goes on, so that no two programs get the same port before one of them listens.
var next = func() *atomic.Int64 {
	var n atomic.Int64
	n.Store(rand.Int64N(endPort - firstPort))
	return &n
}()

// Choose returns a port of 127.0.0.1 on which no one listens. It returns a port that the system gives to anyone only
// where many of the others are in use.
func Choose() (int, error) {
	for range tries {
		if port, err := release(firstPort + int(next.Add(1)%(endPort-firstPort))); err == nil {
			return port, nil
		}
	}
	port, err := release(0)
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return port, nil
}

// release listens on a port for a moment.
func release(port int) (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}
