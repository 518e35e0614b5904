// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/pki"
)

const (
	logText = "This pod is simulated: no container runs, so there are no logs. " +
		"Real containers run in your own cluster, for example one created by kind.\n"
	streamText = "this pod is simulated: no container runs, so there is nothing to exec into, attach to or forward a " +
		"port to; " +
		"real containers run in your own cluster, for example one created by kind"

	// The API server sends its requests at once, over connections it keeps.
	headerTimeout = 5 * time.Second
	closeTimeout  = 500 * time.Millisecond
)

// serve answers the kubelet's API until ctx ends. Only the API server is let in.
func (k *Kubelet) serve(ctx context.Context) error {
	authority, err := os.ReadFile(k.config.Files.CA)
	if err != nil {
		return fmt.Errorf("read the kubelet's authority: %w", err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(authority)
	server := &http.Server{
		Handler: onlyAPIServer(routes()),
		TLSConfig: &tls.Config{
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, MinVersion: tls.VersionTLS12,
		},
		ReadHeaderTimeout: headerTimeout,
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
	err = server.ServeTLS(k.config.Listener, k.config.Files.Kubelet.Cert, k.config.Files.Kubelet.Key)
	if stop() {
		return fmt.Errorf("serve the kubelet's API on %s: %w", k.config.Listener.Addr(), err)
	}
	<-stopped
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the kubelet's API on %s: %w", k.config.Listener.Addr(), err)
	}
	return nil
}

func routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, logText)
	})
	for _, path := range []string{"/exec/", "/attach/", "/portForward/", "/run/"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, streamText, http.StatusNotImplemented)
		})
	}
	return mux
}

func onlyAPIServer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || len(
			r.TLS.PeerCertificates,
		) == 0 || r.TLS.PeerCertificates[0].Subject.CommonName != pki.KubeletClientName {
			http.Error(w, "only the API server may ask", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
