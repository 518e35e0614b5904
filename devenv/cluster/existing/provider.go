// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package existing

import (
	"context"
	"log/slog"
	"time"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

const (
	// answerWithin bounds one question to the API server.
	answerWithin = 5 * time.Second
	// readyWithin is how long a cluster that is just starting may take.
	readyWithin = 60 * time.Second
	// lookEvery is how often the API server is looked at; more often while it is waited for.
	lookEvery = 5 * time.Second
	waitEvery = 500 * time.Millisecond
	// lostAfter unanswered questions the API server counts as gone: a single one may be bad luck.
	lostAfter = 2
)

// Provider watches over one context.
type Provider struct {
	context    *Context
	kubeconfig string
	load       LoadIntoKind
	logger     *slog.Logger
	// The clock's part, replaced in tests.
	readyWithin, lookEvery, waitEvery time.Duration
}

var _ cluster.Provider = (*Provider)(nil)

// LoadIntoKind loads the images of an archive, under references, into a cluster of kind's that runs
// on this machine. cluster.ErrNoImages when there is none of that name.
type LoadIntoKind func(ctx context.Context, name, archive string, references []string) error

// Config says which cluster it is.
type Config struct {
	// Context was found, and checked unless the user insisted.
	Context *Context
	// Kubeconfig is the file that the copy is written to.
	Kubeconfig string
	// LoadIntoKind may be nil: then no cluster takes images.
	LoadIntoKind LoadIntoKind
	Logger       *slog.Logger
}

// New returns a provider; the cluster is not touched.
func New(c Config) *Provider {
	return &Provider{
		context: c.Context, kubeconfig: c.Kubeconfig, load: c.LoadIntoKind, logger: c.Logger,
		readyWithin: readyWithin, lookEvery: lookEvery, waitEvery: waitEvery,
	}
}

// Describe implements cluster.Provider.
func (p *Provider) Describe() cluster.Description {
	return cluster.Description{Kind: cluster.Existing, Kubeconfig: p.kubeconfig}
}
