// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"log/slog"
	"path/filepath"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// Provider runs the embedded Kubernetes for one environment.
type Provider struct {
	program    *Program
	dir        string
	kubeconfig string
	logFile    string
	started    func(pid int)
	// programs are those that images run as; nil when every pod is simulated.
	programs *programStore
	logger   *slog.Logger
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
	// LocalPods says that images run as processes of this machine: those that LoadImage brings with a program, and
	// Mapped.
	LocalPods bool
	// Mapped are the programs that the user gave for images. They have been checked.
	Mapped []LocalImage
	Logger *slog.Logger
}

// New returns a provider; nothing is started.
func New(c Config) *Provider {
	if c.Started == nil {
		c.Started = func(int) {}
	}
	p := &Provider{
		program: c.Program, dir: c.Dir, kubeconfig: c.Kubeconfig, logFile: c.LogFile, started: c.Started,
		logger: c.Logger,
	}
	if c.LocalPods {
		p.programs = newProgramStore(filepath.Join(c.Dir, "programs"), c.Mapped)
	}
	return p
}

// Describe implements cluster.Provider.
func (p *Provider) Describe() cluster.Description {
	local := p.programs != nil
	return cluster.Description{Kind: cluster.Embedded, Simulated: !local, Local: local, Kubeconfig: p.kubeconfig}
}
