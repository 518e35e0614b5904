// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"

	"golang.org/x/net/netutil"

	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/services"
	"github.com/pipedeck/pipedeck/system/clock"
)

// forward makes one port reachable.
type forward struct {
	found     found
	cluster   *cluster
	logger    *slog.Logger
	listener  net.Listener
	endpoints *endpoints
	pool      *pool
	limits    limits
	checks    sync.WaitGroup
}

func newForward(c *cluster, found found, limits limits, logger *slog.Logger) (*forward, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on 127.0.0.1: %w; free a port", err)
	}
	return &forward{
		found: found, cluster: c, logger: logger, listener: listener,
		endpoints: newEndpoints(), pool: newPool(c.dial), limits: limits,
	}, nil
}

// run serves until ctx and every connection have ended.
func (f *forward) run(ctx context.Context) {
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		f.found.watcher.run(ctx, f.cluster, func(known pods) { f.setPods(ctx, known) })
	}()
	stop := context.AfterFunc(ctx, f.pool.close)
	defer stop()
	listener := netutil.LimitListener(f.listener, f.limits.connections)
	if f.found.scheme == services.HTTP {
		f.serveHTTP(ctx, listener)
	} else {
		f.serveTCP(ctx, listener)
	}
	<-watched
	f.checks.Wait()
}

// setPods takes the pods that are known now, and drops the connections to former ones that have ended: these could hang
// for minutes.
func (f *forward) setPods(ctx context.Context, known pods) {
	f.endpoints.set(known)
	for _, p := range f.pool.setPods(known) {
		f.checks.Go(func() {
			if f.cluster.gone(ctx, p) {
				f.pool.drop(p)
			}
		})
	}
}

// connect opens a connection to the next pod in turn that has not been tried, or to another one when that pod refuses
// it.
func (f *forward) connect(ctx context.Context, tried *tried) (*connection, error) {
	pauses := clock.NewBackoff(firstPause, mostPause)
	return newConnection(ctx, func(ctx context.Context) (*stream, error) {
		ctx, cancel := context.WithTimeout(ctx, f.limits.patience)
		defer cancel()
		var last error
		for {
			to, err := f.endpoints.await(ctx, tried, pauses)
			if err != nil {
				if last != nil {
					return nil, last
				}
				return nil, err
			}
			tried.add(to)
			s, err := f.pool.open(ctx, to)
			if err == nil {
				return s, nil
			}
			last = err
		}
	})
}

// awaitReady waits for a limited time for the first ready pod.
func (f *forward) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, f.limits.patience)
	defer cancel()
	if _, err := f.endpoints.await(ctx, newTried(), nil); err != nil {
		return fmt.Errorf("%s; see what holds it up with: pipedeck logs", f.waiting())
	}
	return nil
}

// waiting returns what connections wait for, in words for users.
func (f *forward) waiting() string {
	ready, all := f.endpoints.count()
	switch {
	case ready > 0:
		return f.found.source + " does not answer at port " + f.found.port
	case all == 0:
		return f.found.source + " has no pod yet"
	default:
		return fmt.Sprintf("no pod of %s is ready (0 of %d)", f.found.source, all)
	}
}

// address returns the address that users get.
func (f *forward) address(others []string) Address {
	url := f.found.scheme.URL(f.listener.Addr().String())
	ready, all := f.endpoints.count()
	detail := fmt.Sprintf("%s, port %s, %d of %s ready", f.found.source, f.found.port, ready, line.Count(all, "pod"))
	if len(others) > 0 {
		detail += " (--port also takes " + strings.Join(others, ", ") + ")"
	}
	return Address{URL: url, Detail: detail}
}
