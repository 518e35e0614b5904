// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
)

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
	known, err := record.Read(p.Dir)
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
		return nil, notOurs(engine, p.name, nodes)
	case known != nil && known.State == record.StateReady && len(nodes) > 0:
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
func (p *Provider) engine(ctx context.Context, known *record.Record) (*engineCommand, error) {
	if known == nil {
		return findEngine(ctx)
	}
	engine := &engineCommand{known.Engine}
	return engine, engine.answers(ctx)
}

func (p *Provider) recordedName(known *record.Record) string {
	if known == nil {
		return p.name
	}
	return known.Cluster
}
