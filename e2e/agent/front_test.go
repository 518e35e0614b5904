// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/porttest"
)

// front stands between piped and the control plane, whose state lives in memory and would die with its
// process. Killing the front does to piped what SIGKILL of a control plane with its state on a disk does:
// the connections are reset in the middle of whatever they carry, and no one listens until it is back.
type front struct {
	address, behind string
	work            sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener // nil while it is down
	conns    map[net.Conn]bool
}

// newFront puts a front before the control plane of the environment; piped is configured for it.
func newFront(t *testing.T, e *environment) *front {
	t.Helper()
	f := &front{address: porttest.Address(t), behind: e.address, conns: map[net.Conn]bool{}}
	f.back(t)
	e.reconfigure(t, e.address, f.address)
	t.Cleanup(func() {
		f.kill()
		f.work.Wait()
	})
	return f
}

// back listens again, on the same port.
func (f *front) back(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", f.address)
	require.NoError(t, err)
	f.mu.Lock()
	f.listener = listener
	f.mu.Unlock()
	f.work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f.work.Go(func() { f.serve(conn) })
		}
	})
}

func (f *front) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listener == nil {
		return
	}
	f.listener.Close()
	f.listener = nil
	for conn := range f.conns {
		_ = conn.(*net.TCPConn).SetLinger(0) // reset, not closed in good order
		conn.Close()
	}
}

func (f *front) serve(conn net.Conn) {
	defer conn.Close()
	server, err := net.Dial("tcp", f.behind)
	if err != nil {
		return
	}
	defer server.Close()
	if !f.add(conn, server) {
		return
	}
	defer f.remove(conn, server)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{conn, server}, {server, conn}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			way[0].Close()
			way[1].Close()
		})
	}
	both.Wait()
}

func (f *front) add(conns ...net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range conns {
		f.conns[conn] = true
	}
	return f.listener != nil
}

func (f *front) remove(conns ...net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range conns {
		delete(f.conns, conn)
	}
}
