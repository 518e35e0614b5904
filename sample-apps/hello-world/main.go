// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command hello-world is the smallest web server worth deploying: it greets, says which version,
// build and pod answered, reports its health, and counts its requests. ERROR_PERCENT has some of them fail.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// build is the tag of the image that runs; whoever builds it sets it.
var build = "local"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if greeting, set := os.LookupEnv("GREETING"); set && greeting == "" {
		log.Fatal("GREETING is empty: there is nothing to say")
	}
	// An empty host stands for all addresses, as a container needs it; as a process of a machine it gets its loopback.
	address := net.JoinHostPort(os.Getenv("HOST"), getenv("PORT", "8080"))
	if err := serve(ctx, address, routes()); err != nil {
		log.Fatal(err)
	}
}

func routes() http.Handler {
	mux := http.NewServeMux()
	var answers counter
	percent, _ := strconv.ParseUint(os.Getenv("ERROR_PERCENT"), 10, 64)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		if answers.next(percent) {
			http.Error(w, "this version is bad", http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "%s (version %s, build %s, pod %s)\n",
			getenv("GREETING", "Hello, world!"), getenv("VERSION", "unknown"), build, getenv("HOSTNAME", "local"))
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		good, bad := answers.read()
		fmt.Fprintf(w, "# TYPE http_requests_total counter\nhttp_requests_total{code=\"200\"} %d\n"+
			"http_requests_total{code=\"500\"} %d\n", good, bad)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}

// counter counts answers.
type counter struct {
	mu        sync.Mutex
	good, bad uint64
}

// next counts an answer, and reports whether it is one of the percent that fail.
func (c *counter) next(percent uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.good + c.bad
	if (all+1)*percent/100 > all*percent/100 {
		c.bad++
		return true
	}
	c.good++
	return false
}

func (c *counter) read() (good, bad uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.good, c.bad
}

// serve answers until ctx ends, then lets open requests finish for at most five seconds.
func serve(ctx context.Context, address string, handler http.Handler) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	log.Printf("listening on %s", listener.Addr())
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		stopped <- server.Shutdown(grace)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

func getenv(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
