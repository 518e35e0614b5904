// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"log/slog"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// Provider runs the embedded Kubernetes for one environment.
type Provider struct {
	program    *Program
	dir        string
	kubeconfig string
	logFile    string
	started    func(pid int)
	logger     *slog.Logger
}

var _ cluster.Provider = (*Provider)(nil)

// Config places a Provider.
type Config struct {
	Program *Program
	// Dir holds the cluster's data.
	Dir string
	// Kubeconfig is the file that the server writes.
	Kubeconfig string
	LogFile    string
	// Started gets the process id at every start; may be nil.
	Started func(pid int)
	Logger  *slog.Logger
}

// New returns a provider; nothing is started.
func New(c Config) *Provider {
	if c.Started == nil {
		c.Started = func(int) {}
	}
	return &Provider{c.Program, c.Dir, c.Kubeconfig, c.LogFile, c.Started, c.Logger}
}

// Describe implements cluster.Provider.
func (p *Provider) Describe() cluster.Description {
	return cluster.Description{Kind: cluster.Embedded, Simulated: true, Kubeconfig: p.kubeconfig}
}
