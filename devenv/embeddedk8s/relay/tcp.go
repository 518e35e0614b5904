// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// acceptPause is the wait after a connection could not be taken: out of file descriptors, mostly.
const acceptPause = 50 * time.Millisecond

// Server is what *http.Server and TCP have in common. Serve returns http.ErrServerClosed after Shutdown or Close.
type Server interface {
	Serve(listener net.Listener) error
	// Shutdown closes the listeners and returns when the connections have ended by themselves, or with ctx's error.
	Shutdown(ctx context.Context) error
	// Close closes listeners and connections.
	Close() error
}

var (
	_ Server = (*http.Server)(nil)
	_ Server = (*TCP)(nil)
)

// Dialer connects to whatever has the next turn.
type Dialer func(context.Context) (net.Conn, error)

// TCP carries each connection to an endpoint, whatever is spoken.
type TCP struct {
	dial Dialer
	// failed is called with the error of each connection that reached no endpoint.
	failed func(error)

	ctx    context.Context
	cancel context.CancelFunc
	// running counts connections and calls of Serve. It does not grow once closed is set.
	running   sync.WaitGroup
	mu        sync.Mutex
	closed    bool
	listeners map[net.Listener]bool
}

// NewTCP returns a server without listeners. failed is called from several goroutines with the error of each connection
// that reached no endpoint and was closed therefore.
func NewTCP(dial Dialer, failed func(error)) *TCP {
	ctx, cancel := context.WithCancel(context.Background())
	return &TCP{dial: dial, failed: failed, ctx: ctx, cancel: cancel, listeners: map[net.Listener]bool{}}
}

// Serve carries the connections of the listener, which it closes at the end.
func (s *TCP) Serve(listener net.Listener) error {
	if !s.add(listener) {
		return errors.Join(http.ErrServerClosed, listener.Close())
	}
	defer s.running.Done()
	for {
		client, err := listener.Accept()
		switch {
		case err == nil:
			s.running.Go(func() { s.carry(client) })
		case s.remove(listener, errors.Is(err, net.ErrClosed)):
			return http.ErrServerClosed
		default:
			pause(s.ctx, acceptPause)
		}
	}
}

func (s *TCP) add(listener net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.listeners[listener] = true
	s.running.Add(1)
	return true
}

// remove drops the listener when the server or the listener is closed.
func (s *TCP) remove(listener net.Listener, closed bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || closed {
		delete(s.listeners, listener)
		return true
	}
	return false
}

func (s *TCP) closeListeners() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var problems []error
	for listener := range s.listeners {
		problems = append(problems, listener.Close())
	}
	clear(s.listeners)
	return errors.Join(problems...)
}

// Shutdown implements Server.
func (s *TCP) Shutdown(ctx context.Context) error {
	err := s.closeListeners()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.running.Wait()
	}()
	select {
	case <-ended:
		return err
	case <-ctx.Done():
		return errors.Join(err, ctx.Err())
	}
}

// Close implements Server.
func (s *TCP) Close() error {
	err := s.closeListeners()
	s.cancel()
	s.running.Wait()
	return err
}

// carry connects a client to an endpoint and copies in both directions until both have said all.
func (s *TCP) carry(client net.Conn) {
	defer client.Close()
	endpoint, err := s.dial(s.ctx)
	if err != nil {
		s.failed(err)
		return
	}
	defer endpoint.Close()
	stop := context.AfterFunc(s.ctx, func() { _ = errors.Join(client.Close(), endpoint.Close()) })
	defer stop()
	var sending sync.WaitGroup
	sending.Go(func() {
		if _, err := io.Copy(endpoint, client); err != nil {
			_ = endpoint.Close()
			return
		}
		closeWrite(endpoint)
	})
	if _, err := io.Copy(client, endpoint); err != nil {
		_ = client.Close()
	}
	closeWrite(client)
	sending.Wait()
}

func closeWrite(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
