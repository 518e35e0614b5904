// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"log/slog"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
)

// Provider makes or adopts one kind cluster.
type Provider struct {
	Config
	name string
}

var _ cluster.Provider = (*Provider)(nil)

// Config places a Provider.
type Config struct {
	// Environment and Cluster appear in the name of the kind cluster.
	Environment, Cluster string
	// Dir holds the record of the cluster. It is made with the cluster and removed with it.
	Dir string
	// Kubeconfig is the file that is written once the API answers.
	Kubeconfig string
	// LogFile receives kind's own words and the output of commands that failed.
	LogFile string
	// NodeImage replaces kind's node image; may be empty.
	NodeImage string
	// File is a configuration of kind by the user; may be empty.
	File string
	// Export also adds a context to the user's own kubeconfig and makes it the current one.
	Export bool
	// TakesImages is called when LoadImage can be; the nodes may not take pods yet. May be nil.
	TakesImages func()
	Logger      *slog.Logger
}

// New returns a provider; nothing is started.
func New(c Config) *Provider {
	if c.TakesImages == nil {
		c.TakesImages = func() {}
	}
	return &Provider{Config: c, name: record.Name(c.Environment, c.Cluster, c.Dir)}
}

// Describe implements cluster.Provider.
func (p *Provider) Describe() cluster.Description {
	return cluster.Description{Kind: cluster.InDocker, Kubeconfig: p.Kubeconfig}
}
