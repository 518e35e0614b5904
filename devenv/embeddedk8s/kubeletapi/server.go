// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/pki"
)

const (
	// The API server sends its requests at once, over connections it keeps.
	headerTimeout = 5 * time.Second
	closeTimeout  = 300 * time.Millisecond
)

// Config is what the API stands on.
type Config struct {
	// Listener is on 127.0.0.1; Run closes it.
	Listener net.Listener
	Files    pki.Files
	// Pods are those of the node, with their annotations and addresses.
	Pods corelisters.PodLister
	// Containers are those that run as processes, Addresses the ports of their pods; nil when every pod is simulated.
	Containers Containers
	Addresses  Addresses
}

// Server serves the API. It is used once.
type Server struct {
	config Config
}

// New returns a server; nothing is served yet.
func New(config Config) *Server { return &Server{config} }

// Run answers requests until ctx ends, and returns nil then. Only the API server is let in.
func (s *Server) Run(ctx context.Context) error {
	authority, err := os.ReadFile(s.config.Files.CA)
	if err != nil {
		return errors.Join(fmt.Errorf("read the kubelet's authority: %w", err), s.config.Listener.Close())
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(authority)
	server := &http.Server{
		Handler: onlyAPIServer(s.routes()),
		TLSConfig: &tls.Config{
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, MinVersion: tls.VersionTLS12,
		},
		ReadHeaderTimeout: headerTimeout,
		// What follows a log, or runs a command, ends with the server.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		closing, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if server.Shutdown(closing) != nil {
			_ = server.Close()
		}
	})
	err = server.ServeTLS(s.config.Listener, s.config.Files.Kubelet.Cert, s.config.Files.Kubelet.Key)
	if stop() {
		return fmt.Errorf("serve the kubelet's API on %s: %w", s.config.Listener.Addr(), err)
	}
	<-stopped
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the kubelet's API on %s: %w", s.config.Listener.Addr(), err)
	}
	return nil
}

func onlyAPIServer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 ||
			r.TLS.PeerCertificates[0].Subject.CommonName != pki.KubeletClientName {
			http.Error(w, "only the API server may ask", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
