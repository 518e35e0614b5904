// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package peeruser

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// A caller has this long for the headers of a request and until its next one, and this much in bytes for the headers.
const (
	readHeaderTimeout = 5 * time.Second
	idleTimeout       = time.Minute
	maxHeaderBytes    = 16 << 10
)

// NewHTTPServer returns an HTTP server with bounds for each caller, in whose handlers Only works.
func NewHTTPServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes, ConnContext: withUser,
	}
}

type userKey struct{}

// withUser lets Only find out whose a connection is. It is called while no other connection is accepted.
func withUser(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, userKey{}, sync.OnceValue(func() error { return Check(conn) }))
}

// Only answers the user of this process and root, where the system knows the user, and others with 403. Root may
// inspect the process anyway, and a port-forward to a pod comes from root. It needs a server of NewHTTPServer.
func Only(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		check, _ := r.Context().Value(userKey{}).(func() error)
		if check == nil {
			http.Error(w, "the connection of this request is unknown", http.StatusForbidden)
			return
		}
		err := check()
		if other := (*Error)(nil); errors.As(err, &other) && other.UID == 0 {
			err = nil
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	})
}
