// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

const (
	// A cluster whose nodes end more often than this in lossWindow is given up.
	lossLimit  = 3
	lossWindow = 5 * time.Minute
)

// watch returns when the cluster cannot be kept up, or with ctx.
func (p *Provider) watch(
	ctx context.Context, engine *engineCommand, progress cluster.Progress, ready func(string),
) error {
	var losses []time.Time
	for {
		nodes, err := engine.nodes(ctx, p.name)
		if err != nil {
			return p.lost(ctx, engine, err)
		}
		if len(nodes) == 0 {
			return &cluster.HintError{
				Err:  fmt.Errorf("the nodes of the cluster %s were removed from %s", p.name, engine.name),
				Hint: "run pipedeck up again: it makes a new cluster",
			}
		}
		ended, err := engine.awaitEnd(ctx, nodes)
		if err != nil {
			return p.lost(ctx, engine, err)
		}
		now := time.Now()
		losses = append(slices.DeleteFunc(losses, func(at time.Time) bool { return now.Sub(at) > lossWindow }), now)
		if len(losses) > lossLimit {
			return &cluster.HintError{
				Err:  fmt.Errorf("the node %s has ended %d times in %v", ended, len(losses), lossWindow),
				Hint: "see " + engine.name + " logs " + ended,
			}
		}
		p.Logger.Error("a node of the kind cluster ended and is started again", "node", ended)
		progress("the node "+ended+" ended and is started again", 0, 0)
		if err := p.restart(ctx, engine, progress, ready); err != nil {
			return err
		}
	}
}

func (p *Provider) restart(
	ctx context.Context, engine *engineCommand, progress cluster.Progress, ready func(string),
) error {
	nodes, err := engine.nodes(ctx, p.name)
	if err != nil {
		return p.lost(ctx, engine, err)
	}
	if len(nodes) == 0 {
		return nil
	}
	if err := engine.start(ctx, nodes); err != nil {
		return p.lost(ctx, engine, err)
	}
	version, err := p.awaitNodes(ctx, engine, func(detail string) { progress(detail, 0, 0) })
	if err != nil {
		return err
	}
	ready(p.about(engine, version, ", started again"))
	return nil
}

// lost says whether the engine or only the node has gone.
func (p *Provider) lost(ctx context.Context, engine *engineCommand, cause error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if engine.answers(ctx) != nil {
		return &cluster.HintError{
			Err: fmt.Errorf("the container engine %s stopped, and with it the cluster %s: %w", engine.name, p.name,
				cause),
			Hint: "start the container engine, then run pipedeck up again: the cluster is adopted",
		}
	}
	return &cluster.HintError{
		Err:  fmt.Errorf("the cluster %s cannot be kept up: %w", p.name, cause),
		Hint: "run pipedeck up again; if that fails, run pipedeck down first",
	}
}

// start starts the containers that do not run.
func (e *engineCommand) start(ctx context.Context, nodes []string) error {
	if _, err := e.run(ctx, append([]string{"start"}, nodes...)...); err != nil {
		return fmt.Errorf("start the nodes %s: %w", strings.Join(nodes, ", "), err)
	}
	return nil
}

// awaitEnd returns the name of the first container that ends. The engine reports the end: nothing is polled.
func (e *engineCommand) awaitEnd(ctx context.Context, nodes []string) (string, error) {
	// The command waits for all of its containers, so each gets its own command.
	ctx, cancel := context.WithCancel(ctx)
	type end struct {
		node string
		err  error
	}
	ends := make(chan end, len(nodes))
	for _, node := range nodes {
		go func() {
			_, err := e.runLong(ctx, "wait", node)
			ends <- end{node, err}
		}()
	}
	first := <-ends
	cancel()
	for range len(nodes) - 1 {
		<-ends
	}
	return first.node, first.err
}
