// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command analysis-metrics sends requests to the application of the sample analysis, and has the share of those that
// fail as a metric. It answers Prometheus' query API: by a Prometheus of this machine, where there is one on the search
// path, and else by itself, which knows little of that API and says so in each answer.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	targets, err := parseTargets(os.Getenv("TARGETS"))
	if err != nil {
		log.Fatal(err)
	}
	// An empty host stands for all addresses, as a container needs it; as a process of a machine it gets its loopback.
	listener, err := net.Listen("tcp", net.JoinHostPort(os.Getenv("HOST"), getenv("PORT", "8080")))
	if err != nil {
		log.Fatal(err)
	}
	if err := run(ctx, listener, targets); err != nil {
		log.Fatal(err)
	}
}

// run sends requests and answers queries until ctx ends.
func run(ctx context.Context, listener net.Listener, targets []*target) error {
	store := newStore(targets)
	var work sync.WaitGroup
	for _, t := range targets {
		work.Go(func() { t.send(ctx) })
	}
	work.Go(func() { store.keep(ctx) })
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", store.expose)
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	own := http.HandlerFunc(store.query)
	queries := newQueries(own)
	mux.Handle("/api/v1/", queries)
	work.Go(func() { queries.prefer(ctx, listener.Addr().String()) })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	work.Go(func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(grace)
	})
	log.Printf("listening on %s", listener.Addr())
	err := server.Serve(listener)
	work.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// parseTargets reads NAME=URL, separated by commas.
func parseTargets(list string) ([]*target, error) {
	var targets []*target
	for each := range strings.SplitSeq(list, ",") {
		name, address, _ := strings.Cut(strings.TrimSpace(each), "=")
		at, err := url.Parse(address)
		if name == "" || err != nil || at.Host == "" {
			return nil, errors.New("TARGETS is not a list of NAME=URL: " + list)
		}
		targets = append(targets, newTarget(name, address))
	}
	return targets, nil
}

func getenv(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
