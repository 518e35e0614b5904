// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

const (
	// restartRecent is how long after the last sign of a restart a refusal may come from that restart: a server answers
	// before it has loaded its roles, its tokens and its caches.
	restartRecent = time.Minute
	readyPath     = "/readyz"

	firstRestartPause   = 200 * time.Millisecond
	longestRestartPause = time.Second
)

// restarts is the transport of a client. It notices when the server is away or starting, and sends the requests of
// OutlastRestarts again.
type restarts struct {
	next http.RoundTripper
	base *url.URL
	// limit replaces attemptTimeout when it is not 0.
	limit time.Duration

	mu sync.Mutex
	// away is when the server last did not answer or was not ready.
	away time.Time
	// users use the client. Discovery in client-go takes no context, so its requests belong to all of them.
	users map[*outlasting]bool
}

var _ utilnet.RoundTripperWrapper = (*restarts)(nil)

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (t *restarts) WrappedRoundTripper() http.RoundTripper { return t.next }

// CloseIdleConnections is called by http.Client.
func (t *restarts) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(t.next) }

// serve makes requests without a context outlast restarts while ctx lives.
func (t *restarts) serve(ctx context.Context) {
	user := outlastingOf(ctx)
	if user == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users == nil {
		t.users = map[*outlasting]bool{}
	}
	if t.users[user] {
		return
	}
	t.users[user] = true
	context.AfterFunc(user.ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.users, user)
	})
}

// userOf returns whose patience a request has; nil for a request that fails fast.
func (t *restarts) userOf(ctx context.Context) *outlasting {
	if ctx.Done() != nil {
		return outlastingOf(ctx)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for user := range t.users {
		if user.ctx.Err() == nil {
			return user
		}
	}
	return nil
}

// RoundTrip implements http.RoundTripper.
func (t *restarts) RoundTrip(req *http.Request) (*http.Response, error) {
	pauses, waited, asked := Pauses(firstRestartPause, longestRestartPause), false, false
	for {
		resp, err := t.attempt(req)
		t.note(req, resp, err)
		user := t.userOf(req.Context())
		if user == nil || req.Body != nil && req.GetBody == nil {
			return resp, err
		}
		problem, restarted := t.judge(req.Context(), resp, err, &asked)
		if problem == "" {
			if err == nil {
				user.succeeded(time.Now(), t.base.String(), waited)
			}
			return resp, err
		}
		if restarted {
			if !user.failed(time.Now(), t.base.String(), problem) || !sleep(req.Context(), user.ctx, pauses.Step()) {
				return resp, err
			}
			waited = true
		}
		if resp != nil {
			_ = resp.Body.Close()
		}
		if req, err = again(req); err != nil {
			return nil, err
		}
	}
}

// note keeps what a request shows about the server.
func (t *restarts) note(req *http.Request, resp *http.Response, err error) {
	lost := err != nil && req.Context().Err() == nil
	if lost || err == nil && strings.HasSuffix(req.URL.Path, readyPath) && isStarting(resp.StatusCode) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.away = time.Now()
	}
}

func isStarting(status int) bool {
	return status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}

// recentlyAway reports whether the server has just restarted, as far as the requests so far show.
func (t *restarts) recentlyAway() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.away.IsZero() && time.Since(t.away) < restartRecent
}

// judge returns what is wrong with an answer that another try may change; empty for every other answer. restarted says
// that the server is restarting. Otherwise the request is sent once more: the server may have become ready in between.
func (t *restarts) judge(ctx context.Context, resp *http.Response, err error, asked *bool) (problem string,
	restarted bool) {
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" && ctx.Err() == nil { // so the server has not got the request
			return fmt.Sprintf("does not answer (%v)", err), true
		}
		return "", false
	}
	refusal := refusalOf(resp)
	if refusal == "" {
		return "", false
	}
	problem = fmt.Sprintf("has just (re)started and refuses a request (%s)", refusal)
	first := !*asked
	if *asked = true; first || t.recentlyAway() {
		t.probe(ctx)
	}
	switch {
	case t.recentlyAway():
		return problem, true
	case first && resp.StatusCode < http.StatusInternalServerError:
		return problem, false
	}
	return "", false
}

// probe asks whether the server is ready, and notes the answer.
func (t *restarts) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.base.JoinPath(readyPath).String(), nil)
	if err != nil {
		return
	}
	resp, err := t.next.RoundTrip(req)
	t.note(req, resp, err)
	if err == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxBodyBytes))
		_ = resp.Body.Close()
	}
}

// misfits are how a server begins its answer to an object that does not fit the schema of its kind, or has a value that
// cannot be decoded. Its status is 500.
var misfits = []string{
	"failed to create typed patch object", "failed to convert new object",
	"failed to create manager for existing fields",
}

// refusalOf returns status and message of an answer that a server gives while it starts; empty for all others. A 403 of
// admission is about the object, so it counts only when admission itself is not ready. An object that does not fit its
// schema does not count: waiting cannot help it.
func refusalOf(resp *http.Response) string {
	forbidden := resp.StatusCode == http.StatusForbidden
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return ""
	}
	message := peek(resp)
	if forbidden && !strings.Contains(message, " cannot ") && !strings.Contains(message, "not yet ready") {
		return ""
	}
	if slices.ContainsFunc(misfits, func(words string) bool { return strings.Contains(message, words) }) {
		return ""
	}
	if message == "" {
		message = http.StatusText(resp.StatusCode)
	}
	return fmt.Sprintf("%d: %s", resp.StatusCode, firstLine(message))
}

// peek reads the message of an answer, which stays readable.
func peek(resp *http.Response) string {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBodyBytes))
	rest := io.Reader(resp.Body)
	if err != nil {
		rest = failing{err}
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(data), rest), resp.Body}
	var status struct{ Message string }
	if json.Unmarshal(data, &status) == nil && status.Message != "" {
		return status.Message
	}
	return string(data)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// again is the request with its body from the beginning.
func again(req *http.Request) (*http.Request, error) {
	next := req.Clone(req.Context())
	if req.GetBody == nil {
		return next, nil
	}
	body, err := req.GetBody()
	next.Body = body
	return next, err
}

// sleep reports false when one of the contexts ends first.
func sleep(request, user context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-request.Done():
		return false
	case <-user.Done():
		return false
	case <-timer.C:
		return true
	}
}
