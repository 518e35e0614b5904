// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"time"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// serveHTTP spreads requests over the pods, until ctx and every request have ended.
func (f *forward) serveHTTP(ctx context.Context, listener net.Listener) {
	requests := &requests{}
	handler := f.handler()
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !requests.begin() {
				return
			}
			defer requests.running.Done()
			handler.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog:    slog.NewLogLogger(f.logger.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		f.logger.Error("a forward has ended", "of", f.found.source, "error", err)
	}
	requests.end()
}

// requests waits for those under way. One that was read just before the end comes too late.
type requests struct {
	mu      sync.Mutex
	ended   bool
	running sync.WaitGroup
}

func (r *requests) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.running.Add(1)
	}
	return !r.ended
}

func (r *requests) end() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.running.Wait()
}

func (f *forward) handler() http.Handler {
	transport := &http.Transport{
		// Each request gets a separate connection, so that a pod has no say in who is next.
		DisableKeepAlives:  true,
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return f.connect(ctx, triedBy(ctx))
		},
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", r.In.Host
			r.Out.URL.RawQuery = r.In.URL.RawQuery
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
		Transport:     retrying{transport},
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(f.logger.Handler(), slog.LevelDebug),
		ErrorHandler:  f.refuse,
	}
	hosts := hosts(f.listener.Addr())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hosts[strings.ToLower(r.Host)] {
			http.Error(w, "This address belongs to this machine; use it as http://"+f.listener.Addr().String(),
				http.StatusMisdirectedRequest)
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

// hosts are the names that a browser on this machine uses. Under any other name the page asking may
// come from anywhere.
func hosts(address net.Addr) map[string]bool {
	_, port, _ := net.SplitHostPort(address.String())
	return map[string]bool{"127.0.0.1:" + port: true, "localhost:" + port: true}
}

// refuse answers a request that no pod has answered, with a page that the browser loads again by itself.
func (f *forward) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // no one waits for an answer
	}
	f.logger.Warn("a request found no pod", "of", f.found.source, "error", err)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if !repeatable(r) {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprintf(w, "The pod broke the connection: %v.\n", err)
		return
	}
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Refresh", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	fmt.Fprintf(w, "Waiting: %s.\nThe page loads by itself when one answers.\n", f.waiting())
}
