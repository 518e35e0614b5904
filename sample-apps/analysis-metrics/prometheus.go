// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

// queries answers queries, by a Prometheus while one runs.
type queries struct {
	own        http.Handler
	prometheus atomic.Pointer[httputil.ReverseProxy]
}

func newQueries(own http.Handler) *queries { return &queries{own: own} }

func (q *queries) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if proxy := q.prometheus.Load(); proxy != nil {
		proxy.ServeHTTP(w, r)
		return
	}
	q.own.ServeHTTP(w, r)
}

// prefer runs a Prometheus until ctx ends, where this machine has one.
func (q *queries) prefer(ctx context.Context, scraped string) {
	program, err := exec.LookPath("prometheus")
	if err != nil {
		log.Print("this machine has no prometheus on the search path: this program answers queries itself")
		return
	}
	if err := q.run(ctx, program, scraped); err != nil && ctx.Err() == nil {
		log.Printf("%s has ended: %v: this program answers queries itself", program, err)
	}
}

func (q *queries) run(ctx context.Context, program, scraped string) error {
	dir, err := os.MkdirTemp("", "prometheus-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	settings := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s}\n"+
		"scrape_configs: [{job_name: sample, static_configs: [{targets: [%q]}]}]\n", scraped)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	command := exec.CommandContext(ctx, program, "--config.file="+settings, "--web.listen-address="+address,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--storage.tsdb.retention.time=1h")
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 5 * time.Second
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	base := &url.URL{Scheme: "http", Host: address}
	for ready := false; !ready; {
		select {
		case err := <-ended:
			return err
		case <-time.After(100 * time.Millisecond):
			// Its first look at this program comes seconds after its start.
			ready = knows(ctx, base.JoinPath("api/v1/query").String()+"?query=up")
		}
	}
	log.Printf("%s answers queries", program)
	q.prometheus.Store(httputil.NewSingleHostReverseProxy(base))
	defer q.prometheus.Store(nil)
	return <-ended
}

// freeAddress is an address on which no program listens now.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// knows is whether the answer to a query has a value.
func knows(ctx context.Context, address string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return err == nil && bytes.Contains(body, []byte(`"value"`))
}
