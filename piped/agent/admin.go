// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// DefaultAdminPort is PipeCD v1's.
const DefaultAdminPort = 9085

// health tells what is wrong; an empty answer means nothing is.
type health func() []string

// admin is the HTTP server for operators: /healthz and /version.
type admin struct {
	listener net.Listener
	server   *http.Server
}

func listenAdmin(port int, version string, problems health) (*admin, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("admin port %d is in use: end the other process, or choose another port with --admin-port (0 takes a free one): %w", port, err)
	case err != nil:
		return nil, fmt.Errorf("listen for administration on %s: %w", address, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, version) })
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		// PipeCD v1 answers "ok" before anything works; here "ok" means it.
		if list := problems(); len(list) > 0 {
			http.Error(w, strings.Join(list, "\n"), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "ok")
	})
	return &admin{listener: listener, server: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}}, nil
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
