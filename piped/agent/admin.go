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
	"syscall"

	"github.com/pipedeck/pipedeck/system/peeruser"
)

const (
	// DefaultAdminPort is PipeCD v1's.
	DefaultAdminPort = 9085
	// DefaultAdminHost keeps the port on this machine; PipeCD v1 takes it on all addresses.
	DefaultAdminHost = "127.0.0.1"
)

// AdminOptions say where operators reach piped.
type AdminOptions struct {
	// Host is the address that Port is taken on. Default DefaultAdminHost.
	Host string
	// Port 0 takes a free one.
	Port int
}

// admin is the HTTP server for operators: /healthz, /livez, /metrics, /version and /debug/pprof/.
type admin struct {
	listener net.Listener
	server   *http.Server
}

func listenAdmin(options AdminOptions, version string, healthy func() healthAnswer, metrics http.Handler) (*admin,
	error) {
	address := net.JoinHostPort(cmp.Or(options.Host, DefaultAdminHost), strconv.Itoa(options.Port))
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("admin port %d is in use: end the other process, or choose another port with "+
			"--admin-port (0 takes a free one): %w", options.Port, err)
	case err != nil:
		return nil, fmt.Errorf("listen for administration on %s: %w; see --admin-host and --admin-port", address, err)
	}
	mux := http.NewServeMux()
	// Metrics and profiles name applications, plugins and code of piped. Health and version are for everybody, because
	// a kubelet probes them as another user.
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, version) })
	mux.Handle("GET /metrics", peeruser.Only(metrics))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { writeHealth(w, r, healthy()) })
	mux.Handle("GET /debug/pprof/", peeruser.Only(fromHere(pprof.Index)))
	mux.Handle("GET /debug/pprof/profile", peeruser.Only(fromHere(pprof.Profile)))
	mux.Handle("GET /debug/pprof/symbol", peeruser.Only(fromHere(pprof.Symbol)))
	mux.Handle("GET /debug/pprof/trace", peeruser.Only(fromHere(pprof.Trace)))
	return &admin{listener: listener, server: peeruser.NewHTTPServer(mux)}, nil
}

// fromHere answers callers on this machine only, whatever the address is that the port is taken on: taking a
// profile costs time, and a profile reports how piped is built. A port-forward to a pod comes from there.
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
