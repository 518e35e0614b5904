// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/system/peeruser"
)

// partMetrics is the part whose problem says that Prometheus cannot be answered.
const partMetrics = "metrics"

// serveMetrics answers Prometheus until ctx ends. Without it everything else works, so a failure is a problem and ends
// nothing.
func (e *Environment) serveMetrics(ctx context.Context, listener net.Listener) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", peeruser.Only(e.server.Metrics()))
	server := peeruser.NewHTTPServer(mux)
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		e.server.SetProblem(store.Problem{
			Part: partMetrics, Component: componentControlPlane, Reason: "Prometheus is not answered: " + err.Error(),
			NextStep: "start the environment again: stop it with Ctrl-C or from its user interface, then run " +
				"pipedeck up",
		})
	}
}

// listenAgain listens at the address of the last run when that is free, so that what users pointed at the environment
// goes on working.
func listenAgain(last string, err error) (net.Listener, error) {
	if err == nil {
		if listener, err := net.Listen("tcp", last); err == nil {
			return listener, nil
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}
