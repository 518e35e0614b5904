// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// maxCopies bounds the copies that are under way at a time.
	maxCopies = 64
	// maxCopied bounds the body of a request that is copied, in bytes.
	maxCopied = 1 << 20
	// copyTimeout bounds how long the endpoint of a copy may take for its answer.
	copyTimeout = 30 * time.Second
)

// Copies sends copies of requests to other endpoints and drops what they answer. A request never waits for its copy: a
// copy beyond the bounds, and that of a larger body, is not sent.
type Copies struct {
	ctx       context.Context
	cancel    context.CancelFunc
	transport *http.Transport
	slots     chan struct{}

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// NewCopies returns Copies, which its caller closes.
func NewCopies() *Copies {
	ctx, cancel := context.WithCancel(context.Background())
	return &Copies{
		ctx: ctx, cancel: cancel, slots: make(chan struct{}, maxCopies),
		transport: &http.Transport{
			DisableKeepAlives: true, DisableCompression: true, // as in HTTP.Handler
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return ctx.Value(dialerKey{}).(Dialer)(ctx)
			},
		},
	}
}

// Close ends the copies that are under way. Later ones are not sent.
func (c *Copies) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.running.Wait()
}

// Add sends a copy of a request when its body has been read, which it may replace for that. It is called before the
// request is sent on. A request that asks for another protocol is not copied.
func (c *Copies) Add(r *http.Request, dial Dialer) {
	if r.Header.Get("Upgrade") != "" {
		return
	}
	made := r.Clone(context.WithValue(c.ctx, dialerKey{}, dial))
	made.URL.Scheme, made.URL.Host, made.RequestURI = "http", "endpoint", ""
	for _, name := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer"} {
		made.Header.Del(name)
	}
	made.TransferEncoding, made.Trailer = nil, nil
	if r.Body == nil || r.Body == http.NoBody {
		made.Body = http.NoBody
		c.start(made)
		return
	}
	r.Body = &copiedBody{ReadCloser: r.Body, done: func(body []byte) {
		made.Body, made.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		c.start(made)
	}}
}

// start sends a request, unless there are too many.
func (c *Copies) start(r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	select {
	case c.slots <- struct{}{}:
	default:
		return
	}
	c.running.Go(func() {
		defer func() { <-c.slots }()
		ctx, cancel := context.WithTimeout(r.Context(), copyTimeout)
		defer cancel()
		answer, err := c.transport.RoundTrip(r.WithContext(ctx))
		if err != nil {
			return // no one waits for the answer
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	})
}

// copiedBody keeps what is read of a body until its end.
type copiedBody struct {
	io.ReadCloser
	kept  bytes.Buffer
	large bool
	// done is called once, with a body that is not too large; nil from then on.
	done func(body []byte)
}

func (b *copiedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if b.large = b.large || b.kept.Len()+n > maxCopied; b.large {
		b.kept = bytes.Buffer{}
	} else {
		b.kept.Write(into[:n])
	}
	if errors.Is(err, io.EOF) && !b.large && b.done != nil {
		b.done(b.kept.Bytes())
		b.done = nil
	}
	return n, err
}
