// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/streaming/pkg/httpstream"
)

// dialTimeout bounds the way through the API server and the kubelet to a pod.
const dialTimeout = 10 * time.Second

// Headers of the two streams of a connection.
const (
	headerPort    = "port"
	headerRequest = "requestID" // the same for both
	headerKind    = "streamType"
)

// errClosed says that the forward has ended.
var errClosed = errors.New("the environment is ending")

// dialer opens a port-forward connection to a pod.
type dialer func(ctx context.Context, namespace, pod string) (httpstream.Connection, error)

// tunnel is one port-forward connection to a pod, which carries the streams of several connections.
type tunnel struct {
	// uses is guarded by the pool.
	uses int

	ctx    context.Context
	cancel context.CancelFunc
	// dialed is closed when conn or err is set.
	dialed chan struct{}
	conn   httpstream.Connection
	err    error

	mu   sync.Mutex // also between the end of the attempt to connect and close
	next int
}

func newTunnel() *tunnel {
	ctx, cancel := context.WithCancel(context.Background())
	return &tunnel{ctx: ctx, cancel: cancel, dialed: make(chan struct{})}
}

// connect dials. It does not end with whoever needs the tunnel first, for others may wait for it.
func (t *tunnel) connect(dial dialer, to pod) {
	ctx, cancel := context.WithTimeout(t.ctx, dialTimeout)
	defer cancel()
	conn, err := dial(ctx, to.namespace, to.name)
	t.mu.Lock()
	defer t.mu.Unlock()
	defer close(t.dialed)
	switch {
	case err != nil:
		t.err = fmt.Errorf("forward to pod %s: %w", to.name, err)
	case t.ctx.Err() != nil:
		t.err = errors.Join(errClosed, conn.Close())
	default:
		t.conn = conn
	}
}

// dead reports whether no stream can be opened any more.
func (t *tunnel) dead() bool {
	select {
	case <-t.dialed:
	default:
		return t.ctx.Err() != nil
	}
	if t.err != nil {
		return true
	}
	select {
	case <-t.conn.CloseChan():
		return true
	default:
		return t.ctx.Err() != nil
	}
}

// close breaks the connection, or the attempt to make one.
func (t *tunnel) close() {
	t.cancel()
	t.mu.Lock()
	conn := t.conn // without one, connect closes what it gets
	t.mu.Unlock()
	if conn != nil {
		// Its streams end by this; there is no one who could do more about an error.
		_ = conn.Close()
	}
}

// open begins a stream to a port of the pod. The pod has not answered when it returns.
func (t *tunnel) open(ctx context.Context, port int32) (*stream, error) {
	select {
	case <-t.dialed:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if t.err != nil {
		return nil, t.err
	}
	// A connection that does not answer within the time is of no use to the others either.
	patience, cancel := context.WithTimeout(t.ctx, dialTimeout)
	defer cancel()
	answered := context.AfterFunc(patience, t.close)
	defer answered()
	return t.begin(port)
}

func (t *tunnel) begin(port int32) (*stream, error) {
	t.mu.Lock()
	t.next++
	headers := http.Header{}
	headers.Set(headerPort, strconv.Itoa(int(port)))
	headers.Set(headerRequest, strconv.Itoa(t.next))
	t.mu.Unlock()
	headers.Set(headerKind, "error")
	failures, err := t.conn.CreateStream(headers.Clone())
	if err != nil {
		return nil, fmt.Errorf("open a stream to the pod: %w", err)
	}
	// Nothing is written to it.
	_ = failures.Close()
	headers.Set(headerKind, "data")
	data, err := t.conn.CreateStream(headers)
	if err != nil {
		_ = failures.Reset()
		t.conn.RemoveStreams(failures)
		return nil, fmt.Errorf("open a stream to the pod: %w", err)
	}
	return newStream(t.conn, data, failures), nil
}
