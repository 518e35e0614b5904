// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/workspace"
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
	return &Provider{Config: c, name: clusterName(c)}
}

// Describe implements cluster.Provider.
func (p *Provider) Describe() cluster.Description {
	return cluster.Description{Kind: cluster.InDocker, Kubeconfig: p.Kubeconfig}
}

// Run adopts the cluster that the record names or creates one, and watches its nodes.
func (p *Provider) Run(ctx context.Context, progress cluster.Progress, ready func(string)) error {
	engine, err := p.up(ctx, progress, ready)
	if err == nil {
		err = p.watch(ctx, engine, progress, ready)
	}
	var leftover *leftoverError
	if ctx.Err() != nil && !errors.As(err, &leftover) {
		return nil
	}
	return err
}

// up returns with a ready cluster and its engine.
func (p *Provider) up(ctx context.Context, progress cluster.Progress, ready func(string)) (*engineCommand, error) {
	progress("looking for a container engine", 0, 0)
	wanted, err := p.configuration()
	if err != nil {
		return nil, err
	}
	if err := p.checkExport(); err != nil {
		return nil, err
	}
	known, err := readRecord(p.Dir)
	if err != nil {
		return nil, err
	}
	engine, err := p.engine(ctx, known)
	if err != nil {
		return nil, err
	}
	nodes, err := engine.nodes(ctx, p.recordedName(known))
	if err != nil {
		return nil, err
	}
	switch {
	case known == nil && len(nodes) > 0:
		return nil, foreign(engine, p.name, nodes)
	case known != nil && known.State == stateReady && len(nodes) > 0:
		p.name = known.Cluster
		return engine, p.adopt(ctx, engine, nodes, progress, ready)
	case known != nil:
		progress("removing what an interrupted creation left", 0, 0)
		if err := p.Delete(ctx); err != nil {
			return nil, err
		}
	}
	return engine, p.create(ctx, engine, wanted, progress, ready)
}

// engine is the recorded one as long as there is a record, however the machine has changed.
func (p *Provider) engine(ctx context.Context, known *record) (*engineCommand, error) {
	if known == nil {
		return findEngine(ctx)
	}
	engine := &engineCommand{known.Engine}
	return engine, engine.answers(ctx)
}

func (p *Provider) recordedName(known *record) string {
	if known == nil {
		return p.name
	}
	return known.Cluster
}

// Delete implements cluster.Provider. It needs the record only.
func (p *Provider) Delete(ctx context.Context) error {
	known, err := readRecord(p.Dir)
	if err != nil {
		return err
	}
	if known != nil {
		if err := remove(ctx, known); err != nil {
			return fmt.Errorf("delete the kind cluster %s: %w", known.Cluster, err)
		}
	}
	if err := os.Remove(p.Kubeconfig); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("delete the kind cluster's kubeconfig: %w", err)
	}
	if err := workspace.RemoveCluster(p.Dir); err != nil {
		return fmt.Errorf("delete the kind cluster's record: %w", err)
	}
	return nil
}
