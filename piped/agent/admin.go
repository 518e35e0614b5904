// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/system/peeruser"
)

const (
	// DefaultAdminPort is PipeCD v1's.
	DefaultAdminPort = 9085
	// DefaultAdminHost keeps the port on this machine; PipeCD v1 takes it on all addresses.
	DefaultAdminHost = "127.0.0.1"
)

// admin is the HTTP server for operators: /healthz, /livez, /metrics, /version and /debug/pprof/.
type admin struct {
	listener net.Listener
	server   *http.Server
}

func listenAdmin(host string, port int, version string, healthy func() healthAnswer, metrics http.Handler) (*admin, error) {
	address := net.JoinHostPort(cmp.Or(host, DefaultAdminHost), strconv.Itoa(port))
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("admin port %d is in use: end the other process, or choose another port with --admin-port (0 takes a free one): %w", port, err)
	case err != nil:
		return nil, fmt.Errorf("listen for administration on %s: %w; see --admin-host and --admin-port", address, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, version) })
	mux.Handle("GET /metrics", sameUser(metrics))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { tellHealth(w, r, healthy()) })
	mux.Handle("GET /debug/pprof/", sameUser(fromHere(pprof.Index)))
	mux.Handle("GET /debug/pprof/profile", sameUser(fromHere(pprof.Profile)))
	mux.Handle("GET /debug/pprof/symbol", sameUser(fromHere(pprof.Symbol)))
	mux.Handle("GET /debug/pprof/trace", sameUser(fromHere(pprof.Trace)))
	return &admin{listener: listener, server: &http.Server{
		Handler: mux, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ConnContext: withUser,
	}}, nil
}

// A caller has this long for the headers of a request and until its next one, and this much in bytes for the headers.
const (
	readHeaderTimeout = 5 * time.Second
	idleTimeout       = time.Minute
	maxHeaderBytes    = 16 << 10
)

type userKey struct{}

// withUser lets sameUser find out whose a connection is. It is called while no other connection is accepted.
func withUser(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, userKey{}, sync.OnceValue(func() error { return peeruser.Check(conn) }))
}

// sameUser answers piped's own user and root, where the system knows the user: metrics and profiles name applications,
// plugins and code of piped. Health and version are for everybody, because a kubelet probes them as another user.
// Root may inspect piped anyway, and a port-forward to a pod comes from root.
func sameUser(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		check, _ := r.Context().Value(userKey{}).(func() error)
		if check == nil {
			http.Error(w, "the connection of this request is unknown", http.StatusForbidden)
			return
		}
		err := check()
		if other := (*peeruser.Error)(nil); errors.As(err, &other) && other.UID == 0 {
			err = nil
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// fromHere answers callers on this machine only, whatever the address is that the port is taken on: taking a
// profile costs time, and a profile tells how piped is built. A port-forward to a pod comes from there.
func fromHere(handler http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !caller.Addr().Unmap().IsLoopback() {
			http.Error(w, "profiles are given to callers on this machine only; forward the port", http.StatusForbidden)
			return
		}
		handler(w, r)
	})
}

// Run serves until ctx ends.
func (a *admin) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { a.server.Close() })
	defer stop()
	if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve administration: %w", err)
	}
	return nil
}
