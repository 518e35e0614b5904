// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
)

// The ports that programs get. The system gives no connection one of them by itself, and no two starts get the same, so
// that a port that is free when it is looked for is free when the program listens.
const (
	firstPort = 20_000
	portCount = 12_000
)

var ports = func() *atomic.Int64 {
	var next atomic.Int64
	next.Store(rand.Int64N(portCount))
	return &next
}()

// reserve takes a port for a suite, until it is closed: suites of other processes look for ports here, too, and a
// program may need a second until it listens. Nothing is sent to the port of UDP, which programs do not use.
func reserve(port int) (net.PacketConn, error) { return net.ListenPacket("udp", loopback(port)) }

// reservations are the ports of a suite; there is one for each start.
type reservations struct {
	mu   sync.Mutex
	kept []net.PacketConn
}

func (r *reservations) keep(port net.PacketConn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, port)
}

func (r *reservations) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, port := range r.kept {
		errs = append(errs, port.Close())
	}
	return errors.Join(errs...)
}

// listenFree listens on a port that no other start gets before the end of the suite.
func (s *suite) listenFree() (net.Listener, int, error) {
	var failed error
	for range 200 {
		port := firstPort + int(ports.Add(1)%portCount)
		reserved, err := reserve(port)
		if err != nil {
			failed = err
			continue
		}
		listener, err := net.Listen("tcp", loopback(port))
		if err != nil {
			_ = reserved.Close()
			failed = err
			continue
		}
		s.ports.keep(reserved)
		return listener, port, nil
	}
	return nil, 0, fmt.Errorf("find a free port: %w", failed)
}

func (s *suite) freePort() (int, error) {
	listener, port, err := s.listenFree()
	if err != nil {
		return 0, err
	}
	return port, listener.Close()
}
