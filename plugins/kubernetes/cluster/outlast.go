// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"sync"
	"time"
)

const (
	// restartPatience bounds how long the requests of a stage are sent again because the API server restarts.
	restartPatience = 2 * time.Minute
	// logAgain is how long after a line about a restart another line is about another restart.
	logAgain = time.Minute
)

type outlastKey struct{}

// outlasting is the patience of all requests under one context.
type outlasting struct {
	ctx context.Context
	log Log

	mu sync.Mutex
	// since is when the first request of an outage failed; zero while requests succeed.
	since time.Time
	// logged is when the log got a line about this outage; over is set when it got the line about its end.
	logged time.Time
	over   bool
}

// OutlastRestarts makes requests under the returned context survive a restart of the API server: they are sent again
// while nothing listens, and while the server answers 401, 403 or 5xx because it has just started. That lasts at most 2
// minutes, for all of the requests together, and log gets a line about it. A refusal by a server that did not restart
// comes back at once. The caller ends ctx.
func OutlastRestarts(ctx context.Context, log Log) context.Context {
	o := &outlasting{log: log}
	o.ctx = context.WithValue(ctx, outlastKey{}, o)
	return o.ctx
}

// failFast undoes OutlastRestarts.
func failFast(ctx context.Context) context.Context {
	return context.WithValue(ctx, outlastKey{}, (*outlasting)(nil))
}

func outlastingOf(ctx context.Context) *outlasting {
	o, _ := ctx.Value(outlastKey{}).(*outlasting)
	return o
}

// failed notes a failed request. It reports whether the request may be sent again.
func (o *outlasting) failed(now time.Time, server, problem string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		o.since = now
	}
	if now.Sub(o.since) > restartPatience {
		return false
	}
	if o.logged.IsZero() || now.Sub(o.logged) > logAgain && o.over {
		o.logged, o.over = now, false
		o.log.Infof("The API server at %s %s; trying again, at most %s", server, problem, restartPatience)
	}
	return true
}

// succeeded notes that the server does what it is asked for; waited is set by a request that was sent again.
func (o *outlasting) succeeded(now time.Time, server string, waited bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if waited && !o.over && !o.logged.IsZero() {
		o.over = true
		o.log.Infof("The API server at %s accepts requests again after %s", server,
			now.Sub(o.logged).Round(100*time.Millisecond))
	}
	o.since = time.Time{}
}
