// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"path/filepath"

	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/controlplane/spool"
	"github.com/pipedeck/pipedeck/piped/secrets"
)

// connect creates the client of the control plane, and before it the layers that its calls pass.
func (a *Agent) connect(key string) (err error) {
	if err := a.trace(key); err != nil {
		return err
	}
	if err := a.openSpool(); err != nil {
		return err
	}
	if err := a.observe(); err != nil {
		return err
	}
	c := a.options.Config
	a.client, err = controlplane.Dial(controlplane.Options{
		Address: c.APIAddress, ProjectID: c.ProjectID, PipedID: c.PipedID, Key: []byte(key),
		Insecure: a.options.Insecure, CertFile: a.options.CertFile, MaxReceiveBytes: a.options.MaxReceiveBytes,
		Layers: a.layers(), Logger: a.logger,
	})
	return err
}

// layers are the parts that see what is reported; package controlplane gives their order.
func (a *Agent) layers() controlplane.Layers {
	return controlplane.Layers{
		LiveState: a.deployments.Intercept,
		Secrets:   secrets.Reports(a.masker),
		Trace:     a.tracer.Reports,
		Observe:   a.observer.Intercept,
		Spool:     a.spool.Intercept,
	}
}

// openSpool opens the reports that wait for the control plane, those of an earlier piped among them.
func (a *Agent) openSpool() error {
	c := a.options.Config
	dir, err := spool.Directory(filepath.Join(a.options.WorkDir, "spool"), spool.Owner{
		Address: c.APIAddress, ProjectID: c.ProjectID, PipedID: c.PipedID,
	}, a.logger)
	if err != nil {
		return err
	}
	a.spool, err = spool.Open(spool.Options{Dir: dir, Logger: a.logger})
	return err
}
