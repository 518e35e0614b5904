// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Request is the SDK's type with the configuration of this plugin.
type Request = sdk.PlanPreviewRequest[config.Plugin, config.DeployTarget, config.Application]

// Query asks what a commit would change of one application.
type Query struct {
	PipedID, ApplicationID string
	// Destinations has at least one element.
	Destinations []Destination
}

// Destination is a deploy target with the application as it is and as it would be there.
type Destination struct {
	Target stage.Target
	// Running is nil before the first deployment.
	Running, Wanted *stage.Source
}

// question is that for one deploy target.
type question struct {
	Destination
	pipedID, applicationID string
	// connect returns the cluster, or why it cannot be reached.
	connect stage.Connect
}

const (
	// reachTimeout bounds the wait for a cluster: what is not there now is compared without it.
	reachTimeout = 10 * time.Second
	// parallelTargets bounds the deploy targets that are asked at the same time.
	parallelTargets = 4
)

// Previewer makes previews. It may be used by several goroutines.
type Previewer struct {
	loader *stage.Loader
	pool   *cluster.Pool
	// reach is reachTimeout but in tests.
	reach time.Duration
}

// New creates a Previewer. The pool stays the caller's.
func New(loader *stage.Loader, pool *cluster.Pool) *Previewer {
	return &Previewer{loader: loader, pool: pool, reach: reachTimeout}
}

// Preview returns an answer for each deploy target, in their order. What one cluster refuses is an error for all: the
// deployment would fail.
func (p *Previewer) Preview(ctx context.Context, q Query) ([]sdk.PlanPreview, error) {
	previews := make([]sdk.PlanPreview, len(q.Destinations))
	failed := make([]error, len(q.Destinations))
	var group errgroup.Group
	group.SetLimit(parallelTargets)
	for i, d := range q.Destinations {
		group.Go(func() error {
			previews[i], failed[i] = p.target(ctx, &question{Destination: d, pipedID: q.PipedID,
				applicationID: q.ApplicationID})
			return nil
		})
	}
	_ = group.Wait() // the errors are in failed, each of its target
	return previews, errors.Join(failed...)
}

func (p *Previewer) target(ctx context.Context, q *question) (sdk.PlanPreview, error) {
	client, away := p.pool.Reach(ctx, q.Target.Config, p.reach)
	q.connect = func(context.Context) (*cluster.Client, error) { return client, away }
	loaded, err := p.load(ctx, q, q.Wanted)
	if err != nil {
		return sdk.PlanPreview{}, err
	}
	wanted, found := loaded.Manifests, &changes{notes: loaded.Notes}
	var running []manifest.Manifest
	if q.Running != nil {
		if loaded, err := p.load(ctx, q, q.Running); err == nil { // without it, what is there shows more
			running = loaded.Manifests
		}
	}
	rule, err := pruneRule(q.Wanted, running, wanted)
	if err != nil {
		return sdk.PlanPreview{}, err
	}
	plan, err := phase.Arrange(wanted, stage.OccasionOf(q.Running))
	if err != nil {
		return sdk.PlanPreview{}, err
	}
	wanted = manifest.WithoutHooks(wanted)
	if rule.onlyPrimary { // a pipeline, which may end with a share of the traffic other than in Git
		if wanted, err = stage.AsRouted(wanted, q.Wanted); err != nil {
			return sdk.PlanPreview{}, fmt.Errorf("a stage of the pipeline would fail: %w", err)
		}
	}
	found.hooksOf(plan)
	switch {
	case away == nil:
		try := &trial{question: q, loader: p.loader, client: client, running: running, wanted: wanted,
			hooks: dueHooks(plan), rule: rule, found: found}
		err = try.run(ctx)
	case ctx.Err() == nil:
		found.notes = append(found.notes, fmt.Sprintf("the cluster of deploy target %s cannot be reached, so this "+
			"is the difference from the running commit: %v", q.Target.Name, away))
		compareCommits(manifest.WithoutHooks(running), wanted, rule, found)
	default:
		err = away
	}
	if err != nil {
		return sdk.PlanPreview{}, fmt.Errorf("deploy target %s: %w", q.Target.Name, err)
	}
	summary, details := found.render()
	return sdk.PlanPreview{Target: q.Target.Name, Summary: summary, Details: details, NoChange: found.none()}, nil
}

// load returns the manifests as a finished deployment leaves them. The commit may not be reviewed yet, and others
// see the preview: so charts do not get the values of Secrets.
func (p *Previewer) load(ctx context.Context, q *question, s *stage.Source) (*stage.Loaded, error) {
	loaded, err := p.loader.LoadPrimary(ctx, []stage.Target{q.Target}, s,
		stage.Loading{Connect: q.connect, Hide: true, Upgrade: stage.IsUpgrade(q.Running)})
	if err != nil {
		return nil, fmt.Errorf("load the manifests of %s at commit %.7s: %w", s.ConfigFilename, s.CommitHash, err)
	}
	return loaded, nil
}
