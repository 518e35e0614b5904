// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"io"
	"net/http"
	"time"
)

// attemptTimeout is that of client-go's own discovery. Its requests have no context, so nothing else would end one
// that a stalled server or balancer leaves without an answer.
const attemptTimeout = 32 * time.Second

// attempt sends a request once. One whose context never ends has attemptTimeout for the answer and its body.
func (t *restarts) attempt(req *http.Request) (*http.Response, error) {
	if req.Context().Done() != nil {
		return t.next.RoundTrip(req)
	}
	ctx, cancel := context.WithTimeout(req.Context(), t.patience())
	resp, err := t.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &bounded{resp.Body, cancel}
	return resp, nil
}

func (t *restarts) patience() time.Duration {
	if t.limit > 0 {
		return t.limit
	}
	return attemptTimeout
}

// bounded is a body whose end frees the timer of its request.
type bounded struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b *bounded) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
