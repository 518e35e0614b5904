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

// untilDisconnected returns the request with a context that ends when the client's connection does, and what the caller
// does at its end. net/http does not report that end for a connection that was taken over, and the library that takes
// it over stops reading when the client announces that it goes.
func untilDisconnected(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request, func()) {
	ctx, cancel := context.WithCancel(r.Context())
	t := &takeover{ResponseWriter: w, ended: cancel}
	return t, r.WithContext(ctx), t.end
}

// takeover is a response whose connection reports its end.
type takeover struct {
	http.ResponseWriter
	ended context.CancelFunc
	// read is the reading end of what arrives; nil until the connection is taken over.
	read *io.PipeReader
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
	read, write := io.Pipe()
	t.read = read
	go func() {
		_, err := io.Copy(write, buffered.Reader)
		_ = write.CloseWithError(err) // nil stands for the end
		t.ended()
	}()
	return conn, bufio.NewReadWriter(bufio.NewReader(read), buffered.Writer), nil
}

// end releases what reads the connection, which the caller has closed.
func (t *takeover) end() {
	t.ended()
	if t.read != nil {
		_ = t.read.Close()
	}
}
