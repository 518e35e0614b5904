// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
)

// untilDisconnected returns the request with a context that ends when the client's connection does. net/http does not
// report that for a connection that was taken over; the reader of the connection sees it first.
func untilDisconnected(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request, func()) {
	ctx, cancel := context.WithCancel(r.Context())
	return &takeover{w, cancel}, r.WithContext(ctx), cancel
}

// takeover is a response whose connection reports its end.
type takeover struct {
	http.ResponseWriter
	ended context.CancelFunc
}

// Unwrap is for http.ResponseController.
func (t *takeover) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// Hijack implements http.Hijacker.
func (t *takeover) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	hijacker, ok := t.ResponseWriter.(http.Hijacker)
	if !ok {
		return nil, nil, errors.New("this connection cannot be taken over")
	}
	conn, buffered, err := hijacker.Hijack()
	if err != nil {
		return nil, nil, err
	}
	watched := bufio.NewReader(&watchedReader{buffered.Reader, t.ended})
	return conn, bufio.NewReadWriter(watched, buffered.Writer), nil
}

// watchedReader calls ended when nothing can be read any more.
type watchedReader struct {
	io.Reader
	ended context.CancelFunc
}

func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	var network net.Error
	if err != nil && (!errors.As(err, &network) || !network.Timeout()) {
		r.ended()
	}
	return n, err
}
