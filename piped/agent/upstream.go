// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/controlplane/spool"
	"github.com/pipedeck/pipedeck/piped/fault"
	"github.com/pipedeck/pipedeck/piped/health"
	"github.com/pipedeck/pipedeck/piped/livestate"
	"github.com/pipedeck/pipedeck/piped/observe"
	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/piped/tracing"
)

// ControlPlaneOptions are about the connection to the control plane.
type ControlPlaneOptions struct {
	// Insecure talks to the control plane without TLS; CertFile names the only authorities to trust.
	Insecure bool
	CertFile string
	// MaxReceiveBytes bounds an answer of the control plane; 0 for the default.
	MaxReceiveBytes int
}

// upstream is the client of the control plane, with the layers that its calls pass.
type upstream struct {
	client   *controlplane.Client
	spool    *spool.Spool
	tracer   *tracing.Tracer
	observer *observe.Observer
	masker   *secrets.Masker
	// deployments notifies the reporter of live states of deployments that begin and end.
	deployments livestate.Deployments
}

// connect creates the client of the control plane, and before it the layers that its calls pass.
func (a *Agent) connect(key string) (err error) {
	a.upstream = &upstream{masker: a.masker}
	if a.upstream.tracer, err = newTracer(a.options, key, a.masker, a.logger); err != nil {
		return err
	}
	if a.upstream.spool, err = openSpool(a.options.Config, a.options.WorkDir, a.logger); err != nil {
		return err
	}
	a.readiness = &readiness{
		address: a.options.Config.APIAddress, connected: a.upstream.connected, spool: a.upstream.spool.Stats,
		traces: a.upstream.tracer.State, plugins: a.pluginStatus, problems: a.problems, mask: a.masker.Mask,
	}
	if a.observed, err = a.newObservation(); err != nil {
		return err
	}
	a.upstream.observer = a.observed.observer
	return a.upstream.dial(a.options, key, a.logger)
}

func (u *upstream) dial(options Options, key string, logger *slog.Logger) (err error) {
	c, how := options.Config, options.ControlPlane
	u.client, err = controlplane.Dial(controlplane.Options{
		Address: c.APIAddress, ProjectID: c.ProjectID, PipedID: c.PipedID, Key: []byte(key),
		Insecure: how.Insecure, CertFile: how.CertFile, MaxReceiveBytes: how.MaxReceiveBytes,
		Layers: u.layers(options.Faults), Logger: logger,
	})
	return err
}

// layers are the parts that see what is reported; package controlplane gives their order.
func (u *upstream) layers(faults *fault.Set) controlplane.Layers {
	return controlplane.Layers{
		LiveState: u.deployments.Intercept,
		Secrets:   secrets.Reports(u.masker),
		Trace:     u.tracer.Reports,
		Observe:   u.observer.Intercept,
		Spool:     u.spool.Intercept,
		Faults:    faults.Reports(),
	}
}

// connected reports whether there is a connection to the control plane now.
func (u *upstream) connected() bool {
	now, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	return u.client.Connected(now) == nil
}

// problems is a source of problems: reports that do not get through.
func (u *upstream) problems() []health.Problem {
	return spoolProblems(u.spool.Stats(), u.connected(), time.Now())
}

// close closes what was opened.
func (u *upstream) close(logger *slog.Logger) {
	if err := u.tracer.Close(); err != nil {
		logger.Debug("the last traces did not get through", "error", err)
	}
	if u.client != nil {
		u.client.Close()
	}
	if u.spool != nil {
		u.spool.Close()
	}
}

// openSpool opens the reports that wait for the control plane, those of an earlier piped among them.
func openSpool(c *config.Piped, workDir string, logger *slog.Logger) (*spool.Spool, error) {
	dir, err := spool.Directory(filepath.Join(workDir, "spool"), spool.Owner{
		Address: c.APIAddress, ProjectID: c.ProjectID, PipedID: c.PipedID,
	}, logger)
	if err != nil {
		return nil, err
	}
	return spool.Open(spool.Options{Dir: dir, Logger: logger})
}

// newTracer creates the part that records traces.
func newTracer(options Options, key string, masker *secrets.Masker, logger *slog.Logger) (*tracing.Tracer, error) {
	c := options.Config
	transport, err := controlplane.Transport(options.ControlPlane.Insecure, options.ControlPlane.CertFile)
	if err != nil {
		return nil, fmt.Errorf("connect to the control plane at %q: %w", c.APIAddress, err)
	}
	return tracing.New(tracing.Options{
		Address: c.APIAddress, Transport: transport,
		Token:     strings.Join([]string{c.ProjectID, c.PipedID, strings.TrimSpace(key)}, ","),
		ProjectID: c.ProjectID, PipedID: c.PipedID, Version: options.Version, Mask: masker.Mask, Logger: logger,
	})
}
