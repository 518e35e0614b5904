// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"time"

	kubeprobe "k8s.io/kubernetes/pkg/probe"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
)

// probeHTTP is the HTTP check of a probe. Kubernetes' own prober, which TLS needs, starts three goroutines for each
// check, each of which may wake up another thread: that would be a tenth of what an idle cluster costs.
func probeHTTP(request *http.Request, timeout time.Duration) (kubeprobe.Result, string, error) {
	if request.URL.Scheme != "http" {
		return httpProber.Probe(request, timeout)
	}
	return httpprobe.DoHTTPProbe(request, &http.Client{
		Timeout: timeout, Transport: oneRequest{}, CheckRedirect: httpprobe.RedirectChecker(false),
	})
}

// oneRequest is an http.RoundTripper that makes each request on a connection of its own, in the goroutine of the
// caller.
type oneRequest struct{}

// RoundTrip implements http.RoundTripper.
func (oneRequest) RoundTrip(request *http.Request) (_ *http.Response, err error) {
	ctx := request.Context()
	conn, err := kubeprobe.ProbeDialer().DialContext(ctx, "tcp", addressOf(request))
	if err != nil {
		return nil, err
	}
	// Also ends a read that is under way.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if err != nil {
			stop()
			_ = conn.Close()
			if cause := ctx.Err(); cause != nil {
				err = cause
			}
		}
	}()
	request = request.Clone(ctx)
	request.Close = true
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(conn)
	for {
		response, err := http.ReadResponse(reader, request)
		if err != nil {
			return nil, err
		}
		if response.StatusCode/100 != 1 || response.StatusCode == http.StatusSwitchingProtocols {
			response.Body = &onlyBody{ReadCloser: response.Body, conn: conn, stop: stop}
			return response, nil
		}
	}
}

func addressOf(request *http.Request) string {
	if request.URL.Port() != "" {
		return request.URL.Host
	}
	return net.JoinHostPort(request.URL.Hostname(), "80")
}

// onlyBody is the body of the only response on a connection.
type onlyBody struct {
	io.ReadCloser

	conn net.Conn
	stop func() bool
}

// Close closes the connection.
func (b *onlyBody) Close() error {
	b.stop()
	return b.conn.Close()
}
