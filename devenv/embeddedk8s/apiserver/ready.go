// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/pki"
)

const (
	// The wait between two questions; it bounds how late readiness is seen. There is no event to wait for: the server
	// reports it to no one.
	readyInterval = 10 * time.Millisecond
	readyTimeout  = 2 * time.Second
)

// WaitReady returns when the server at url says on /readyz that it is ready. It uses plain net/http: client-go would
// honour the "Retry-After: 1" which a starting server sends. It asks as the administrator, because no one else may
// before Bootstrap.
func WaitReady(ctx context.Context, url string, files pki.Files) error {
	authority, err := os.ReadFile(files.CA)
	if err != nil {
		return fmt.Errorf("read the API server's authority: %w", err)
	}
	administrator, err := tls.LoadX509KeyPair(files.Admin.Cert, files.Admin.Key)
	if err != nil {
		return fmt.Errorf("load the administrator's certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: roots, Certificates: []tls.Certificate{administrator}, MinVersion: tls.VersionTLS12,
	}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: readyTimeout}

	ticker := time.NewTicker(readyInterval)
	defer ticker.Stop()
	for {
		err := askReady(ctx, client, url+"/readyz")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s/readyz: %w; last answer: %w", url, context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

func askReady(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	// Read to the end so that the connection is used again; the answer lists one line per check.
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, body)
	}
	return nil
}
