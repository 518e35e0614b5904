// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"strings"
	"time"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// maxAttempts is how often a request that may be repeated is sent, when an endpoint breaks the connection before it
	// answers.
	maxAttempts = 4
)

// NewHTTPServer returns a server for 127.0.0.1 with time limits on what a client may leave open.
func NewHTTPServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: log.New(io.Discard, "", 0), // clients that go away
	}
}

// HTTP sends each request to the endpoint whose turn it is, also when a client keeps its connection, as browsers do.
type HTTP struct {
	// Choose returns how the endpoint of a request is connected to. Its error is what the request is answered with; a
	// *Refusal gives the status.
	Choose func(*http.Request) (Dialer, error)
	// Failed is called with the error of each request that no endpoint answered.
	Failed func(error)
	// Forwarded adds X-Forwarded-For, -Host and -Proto, as a proxy does that clients know of. Without it a request
	// arrives as it was sent.
	Forwarded bool
}

// Refusal is the answer to a request that is sent nowhere.
type Refusal struct {
	Status int
	Text   string
}

func (r *Refusal) Error() string { return r.Text }

// dialerKey is of a Dialer in a request's context.
type dialerKey struct{}

// Handler returns the handler. Requests and answers are not buffered, and upgrades (WebSocket) pass.
func (h HTTP) Handler() http.Handler {
	transport := &http.Transport{
		// A kept connection would take its endpoint past its turn, and may be closed by the endpoint just when it is
		// used again.
		DisableKeepAlives:  true,
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return ctx.Value(dialerKey{}).(Dialer)(ctx)
		},
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       h.rewrite,
		Transport:     retrying{transport},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  h.refuse,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dial, err := h.Choose(r)
		if err != nil {
			h.refuse(w, r, err)
			return
		}
		proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), dialerKey{}, dial)))
	})
}

func (h HTTP) rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host = "http", "endpoint" // Dial knows where that is
	r.Out.URL.RawQuery = r.In.URL.RawQuery
	r.Out.Host = r.In.Host
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values := r.In.Header.Values(name); len(values) > 0 {
			r.Out.Header[name] = values
		}
	}
	if h.Forwarded {
		r.SetXForwarded()
	}
}

// refuse answers a request that no endpoint has answered.
func (h HTTP) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // no one waits for an answer
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if refusal := new(Refusal); errors.As(err, &refusal) {
		w.WriteHeader(refusal.Status)
		fmt.Fprintln(w, refusal.Text)
		return
	}
	h.Failed(err)
	if !errors.Is(err, ErrNoEndpoint) {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprintf(w, "The program broke the connection: %v\n", err)
		return
	}
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Refresh", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	fmt.Fprintf(w, "%v\nThe page loads by itself when one answers.\n", err)
}

// retrying repeats requests whose endpoint ended before it answered, where that can do no harm.
type retrying struct{ next http.RoundTripper }

func (t retrying) RoundTrip(r *http.Request) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		response, err := t.next.RoundTrip(r)
		if err == nil || attempt == maxAttempts || r.Context().Err() != nil || errors.Is(err, ErrNoEndpoint) ||
			!repeatable(r) {
			return response, err
		}
	}
}

func repeatable(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return r.Body == nil || r.Body == http.NoBody
	}
	return false
}

// OwnNames lets only requests through that are addressed to this machine (127.0.0.1, localhost and names under it) or
// to a name that also is allowed. Else a web page could reach a listener by another name that resolves to
// 127.0.0.1.
func OwnNames(also func(host string) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := HostName(r.Host); host != "" && !isOwn(host) && !also(host) {
			http.Error(w, fmt.Sprintf("No Service and no route here has the name %q. Use http://%s", host,
				r.Context().Value(http.LocalAddrContextKey)), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// HostName returns a Host header without port, in lower case.
func HostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

func isOwn(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
