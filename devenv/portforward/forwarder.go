// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// limits bound a Forwarder.
type limits struct {
	// forwards is how many ports can be reached.
	forwards int
	// connections is how many one forward takes; more of them wait.
	connections int
	// patience is how long a connection waits for a pod that takes it.
	patience time.Duration
}

var defaults = limits{forwards: 32, connections: 256, patience: 5 * time.Second}

// Request says what is to be made reachable.
type Request struct {
	// Cluster names the deploy target, for messages.
	Cluster string
	// Kubeconfig reaches it.
	Kubeconfig string
	// ApplicationID is what the application's objects are labelled with; Name is for messages, and
	// the service that is preferred.
	ApplicationID, Name string
	// Port is a name or number, "SERVICE:PORT", or empty: the first port.
	Port string
}

// Address is where an application answers.
type Address struct {
	// URL is "http://127.0.0.1:PORT" or "https://…" where that is what is spoken, else host:port.
	URL string
	// Detail says what answers there.
	Detail string
}

// Forwarder makes applications reachable as long as it runs.
type Forwarder struct {
	logger  *slog.Logger
	limits  limits
	connect func(kubeconfig string) (*cluster, error)

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	clusters map[string]*cluster
	forwards map[key]*forward
}

// key distinguishes forwards.
type key struct{ kubeconfig, applicationID, source, port string }

// New returns a Forwarder without forwards.
func New(logger *slog.Logger) *Forwarder { return newForwarder(logger, defaults, connect) }

func newForwarder(logger *slog.Logger, limits limits, connect func(kubeconfig string) (*cluster, error)) *Forwarder {
	ctx, cancel := context.WithCancel(context.Background())
	return &Forwarder{
		logger: logger, limits: limits, connect: connect, ctx: ctx, cancel: cancel,
		clusters: map[string]*cluster{}, forwards: map[key]*forward{},
	}
}

// Run returns when ctx has ended and every connection is closed; it must be called once.
func (f *Forwarder) Run(ctx context.Context) {
	<-ctx.Done()
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	f.running.Wait()
	for _, c := range f.clusters {
		c.close()
	}
}

// Open makes an application reachable and returns the address, the same one every time. The first
// time it waits a moment for a ready pod. Its errors are for users and end with the next step.
func (f *Forwarder) Open(ctx context.Context, r Request) (Address, error) {
	c, err := f.cluster(r.Kubeconfig)
	if err != nil {
		return Address{}, fmt.Errorf("reach the cluster of %s: %w; see pipedeck status", r.Cluster, err)
	}
	found, err := c.find(ctx, r)
	if err != nil {
		return Address{}, err
	}
	fw, started, err := f.forward(key{r.Kubeconfig, r.ApplicationID, found.source, found.port}, c, found)
	if err != nil {
		return Address{}, err
	}
	if started {
		if err := fw.awaitReady(ctx); err != nil {
			return Address{}, err
		}
	}
	return fw.address(found.others), nil
}

func (f *Forwarder) cluster(kubeconfig string) (*cluster, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, errClosed
	}
	if c := f.clusters[kubeconfig]; c != nil {
		return c, nil
	}
	c, err := f.connect(kubeconfig)
	if err != nil {
		return nil, err
	}
	f.clusters[kubeconfig] = c
	return c, nil
}

// forward returns the running forward of k, or starts it.
func (f *Forwarder) forward(k key, c *cluster, found found) (fw *forward, started bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, false, errors.New("the environment is ending; start it again with: pipedeck up")
	}
	if fw := f.forwards[k]; fw != nil {
		return fw, false, nil
	}
	if len(f.forwards) >= f.limits.forwards {
		return nil, false,
			fmt.Errorf("%d ports are open, which is as many as there can be; restart the environment to close them",
				f.limits.forwards)
	}
	fw, err = newForward(c, found, f.limits, f.logger)
	if err != nil {
		return nil, false, err
	}
	f.forwards[k] = fw
	f.running.Go(func() { fw.run(f.ctx) })
	return fw, true, nil
}
