// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

const (
	// maxClients bounds the pool, as many as clusters are watched. The one used longest ago goes first.
	maxClients = 64

	defaultPatience = 10 * time.Minute
	// credentialPatience is how long kubeconfig and server may not fit together: both may just be being replaced.
	credentialPatience = 10 * time.Second
	// notReadyPatience is how long an API may say that it is not ready before it is tried nevertheless.
	notReadyPatience = 30 * time.Second

	firstPause   = 50 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// Log takes the lines that a user reads.
type Log interface {
	Infof(format string, args ...any)
}

// Pool keeps clients by what they are made from.
type Pool struct {
	// Patience bounds the wait for an API to answer. Zero: 10 minutes.
	Patience time.Duration

	mu      sync.Mutex
	clients []pooled // the one used last comes last
}

type pooled struct {
	key    fingerprint
	client *Client
}

// NewPool creates an empty pool.
func NewPool() *Pool { return &Pool{} }

// Close drops every client; those in use stay usable.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.clients {
		c.client.close()
	}
	p.clients = nil
}

// Namespace is what an object without a namespace gets at a deploy target, without asking its cluster; empty when that
// cannot be known.
func (p *Pool) Namespace(target config.DeployTarget) string {
	client, err := p.get(target)
	if err != nil {
		return ""
	}
	return client.Namespace
}

// Connect returns a client of the deploy target's cluster, which has just answered.
func (p *Pool) Connect(ctx context.Context, target config.DeployTarget, log Log) (*Client, error) {
	patience := cmp.Or(target.ConnectTimeout.Std(), p.Patience, defaultPatience)
	w := wait{begun: time.Now(), patience: patience}
	pauses := Pauses(firstPause, longestPause)
	for {
		client, err := p.get(target)
		if err == nil {
			err = client.probe(ctx)
		}
		now := time.Now()
		changed, reason := w.see(now, client, err)
		switch {
		case err == nil:
			if w.kind != "" {
				log.Infof("The Kubernetes API at %s answers after %s", client.Server,
					now.Sub(w.begun).Round(10*time.Millisecond))
			}
			client.restarts.serve(ctx)
			return client, nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("waiting for the Kubernetes API: %w", context.Cause(ctx))
		case errors.Is(err, errRefused) && client.restarts.recentlyAway() && now.Sub(w.begun) <= patience:
			// a server that has just started may not know its tokens yet
		case w.over(now, err):
			var starting *notReadyError
			if errors.As(err, &starting) {
				log.Infof("The Kubernetes API at %s still says that it is not ready; trying nevertheless",
					client.Server)
				client.restarts.serve(ctx)
				return client, nil
			}
			return nil, fmt.Errorf("connect to the Kubernetes API%s: gave up after %s: %w; check the deploy "+
				"target's kubeConfigPath and that the cluster runs", at(client), now.Sub(w.begun).Round(time.Second),
				err)
		}
		if changed {
			log.Infof("waiting for the Kubernetes API%s", reason)
		}
		_ = Wait(ctx, pauses) // the next round sees the end of ctx
	}
}

// wait is one wait for an API, through what it is waited for: a kubeconfig, an answer, readiness.
type wait struct {
	begun    time.Time
	patience time.Duration
	// kind is what is missing now, since that moment; empty while nothing was.
	kind  string
	since time.Time
}

// see notes what is missing now. It reports whether that is another thing than before, and describes it.
func (w *wait) see(now time.Time, c *Client, err error) (changed bool, reason string) {
	if err == nil {
		return false, ""
	}
	kind, reason := waitingFor(c, err)
	if kind == w.kind {
		return false, reason
	}
	w.kind, w.since = kind, now
	return true, reason
}

// over reports whether it lasts too long: the whole wait, or what is missing now. A cluster that came late gets the
// same time to become ready as one that was there at once.
func (w *wait) over(now time.Time, err error) bool {
	return now.Sub(w.begun) > w.patience || now.Sub(w.since) > patienceFor(err, w.patience)
}

func at(c *Client) string {
	if c == nil {
		return ""
	}
	return " at " + c.Server
}

// waitingFor describes what is missing; kind changes only when that does, while the reason may hold a port of the
// moment.
func waitingFor(c *Client, err error) (kind, reason string) {
	var missing *missingError
	var starting *notReadyError
	switch {
	case errors.As(err, &missing):
		return "kubeconfig", ": " + missing.Error()
	case errors.As(err, &starting):
		return "ready", fmt.Sprintf("%s: %v", at(c), err)
	}
	return "answer", fmt.Sprintf("%s: %v", at(c), err)
}

// patienceFor reports how long an error may last: some fix themselves, a broken kubeconfig does not.
func patienceFor(err error, patience time.Duration) time.Duration {
	var (
		missing   *missingError
		starting  *notReadyError
		broken    *brokenError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &missing):
		return patience
	case errors.As(err, &starting):
		return min(notReadyPatience, patience)
	case errors.As(err, &broken), errors.Is(err, errRefused), errors.As(err, &authority), errors.As(err, &hostname),
		errors.As(err, &invalid):
		return min(credentialPatience, patience)
	}
	return patience
}

// brokenError is a kubeconfig that cannot be used as it is; perhaps it is just being written.
type brokenError struct{ error }

func (e *brokenError) Unwrap() error { return e.error }

// get returns the pooled client of a deploy target, or makes one.
func (p *Pool) get(target config.DeployTarget) (*Client, error) {
	key, err := readKubeconfig(target)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range p.clients {
		if c.key == key {
			p.clients = append(append(p.clients[:i:i], p.clients[i+1:]...), c)
			return c.client, nil
		}
	}
	cfg, namespace, err := loadKubeconfig(target)
	if err != nil {
		return nil, &brokenError{err}
	}
	client, err := NewClient(cfg, namespace)
	if err != nil {
		return nil, &brokenError{err}
	}
	if len(p.clients) == maxClients {
		p.clients[0].client.close()
		p.clients = p.clients[1:]
	}
	p.clients = append(p.clients, pooled{key: key, client: client})
	return client, nil
}
