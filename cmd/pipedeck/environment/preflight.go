// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/doctor"
	"github.com/pipedeck/pipedeck/devenv/env"
)

// preflight looks at this machine while the environment begins to start. Clusters, which are slow
// to make, wait for what it finds; the control plane and so the first frame do not.
type preflight struct {
	doctor *doctor.Doctor
	passed chan struct{}
}

func newPreflight(d *doctor.Doctor) *preflight {
	return &preflight{d, make(chan struct{})}
}

// guard runs an environment that ends when a check fails; then that is the error.
func (p *preflight) guard(ctx context.Context, logger *slog.Logger, warn func(line string),
	run func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	var checking sync.WaitGroup
	checking.Go(func() {
		if err := p.run(ctx, logger, warn); err != nil {
			stop(err)
		}
	})
	err := run(ctx)
	stop(nil)
	checking.Wait()
	if failed := (*env.StartError)(nil); errors.As(context.Cause(ctx), &failed) {
		return errors.Join(failed, err)
	}
	return err
}

// run reports warnings and returns a *env.StartError when the environment cannot work here.
func (p *preflight) run(ctx context.Context, logger *slog.Logger, warn func(line string)) error {
	found := p.doctor.Preflight(ctx)
	if ctx.Err() != nil {
		return nil // it ends before it was looked at
	}
	var failed []doctor.Check
	for _, c := range found {
		logger.Warn("preflight", "check", c.Name, "state", c.State, "found", c.Found, "why", c.Why, "fix", c.Fix)
		if c.State == doctor.Fail {
			failed = append(failed, c)
			continue
		}
		warn("warning: " + c.String() + " (" + c.Fix + ")")
	}
	if len(failed) > 0 {
		return failures(failed)
	}
	close(p.passed)
	return nil
}

// failures is the error of checks that failed; its hint fixes them one after the other.
func failures(failed []doctor.Check) *env.StartError {
	var said, fix []string
	for _, c := range failed {
		said, fix = append(said, c.String()), append(fix, c.Fix)
	}
	return &env.StartError{Component: "this machine", Err: errors.New(strings.Join(said, "; ")),
		Hint: strings.Join(fix, "; then: ")}
}

// gate makes clusters wait.
func (p *preflight) gate(clusters []env.Cluster) []env.Cluster {
	gated := make([]env.Cluster, 0, len(clusters))
	for _, c := range clusters {
		gated = append(gated, env.Cluster{Name: c.Name, New: func(hooks env.Hooks) (cluster.Provider, error) {
			provider, err := c.New(hooks)
			return &gatedCluster{provider, p.passed}, err
		}})
	}
	return gated
}

type gatedCluster struct {
	cluster.Provider
	passed <-chan struct{}
}

// Run implements cluster.Provider.
func (g *gatedCluster) Run(ctx context.Context, progress cluster.Progress, ready func(string)) error {
	progress("looking at this machine", 0, 0)
	select {
	case <-g.passed:
		return g.Provider.Run(ctx, progress, ready)
	case <-ctx.Done():
		return nil
	}
}
