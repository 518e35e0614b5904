// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Request is the SDK's, for this plugin's configuration.
type Request = sdk.PlanPreviewRequest[sdk.None, config.DeployTarget, config.Application]

// reachTimeout bounds the wait for a cluster: what is not there now is compared without it.
const reachTimeout = 10 * time.Second

var errUnreachable = fmt.Errorf("it did not answer within %s", reachTimeout)

// Previewer makes previews. It may be used by several goroutines.
type Previewer struct {
	loader *stage.Loader
	pool   *cluster.Pool
	// reach is reachTimeout but in tests.
	reach time.Duration
}

// New makes a Previewer. The pool stays the caller's.
func New(loader *stage.Loader, pool *cluster.Pool) *Previewer {
	return &Previewer{loader: loader, pool: pool, reach: reachTimeout}
}

// Preview gives an answer for each deploy target; only the first one is deployed to.
func (p *Previewer) Preview(ctx context.Context, req *Request) ([]sdk.PlanPreview, error) {
	first, err := p.target(ctx, req)
	if err != nil {
		return nil, err
	}
	previews := []sdk.PlanPreview{first}
	for _, other := range req.Targets[1:] {
		previews = append(previews, sdk.PlanPreview{
			Target: other.Name, NoChange: true, Summary: fmt.Sprintf("not deployed to: only the first deploy target, %s, is", first.Target),
		})
	}
	return previews, nil
}

func (p *Previewer) target(ctx context.Context, req *Request) (sdk.PlanPreview, error) {
	target := req.Targets[0]
	wanted, err := p.load(ctx, req, req.Target)
	if err != nil {
		return sdk.PlanPreview{}, err
	}
	var running []manifest.Manifest
	if req.Running != nil {
		if running, err = p.load(ctx, req, req.Running); err != nil {
			running = nil // what is there tells more
		}
	}
	rule, err := pruneRule(req, running, wanted)
	if err != nil {
		return sdk.PlanPreview{}, err
	}
	if rule.onlyPrimary { // a pipeline, which may end with a share of the traffic other than in Git
		if wanted, err = stage.AsRouted(wanted, req.Target); err != nil {
			return sdk.PlanPreview{}, fmt.Errorf("a stage of the pipeline would fail: %w", err)
		}
	}
	found := &changes{}
	client, err := p.connect(ctx, target)
	switch {
	case err == nil:
		err = compareWithCluster(ctx, req, client, wanted, rule, found)
	case ctx.Err() == nil:
		found.notes = append(found.notes, fmt.Sprintf("the cluster of deploy target %s cannot be reached, so this is the difference from the running commit: %v", target.Name, err))
		err = compareCommits(running, wanted, rule, found)
	}
	if err != nil {
		return sdk.PlanPreview{}, fmt.Errorf("deploy target %s: %w", target.Name, err)
	}
	summary, details := found.render()
	return sdk.PlanPreview{Target: target.Name, Summary: summary, Details: details, NoChange: found.none()}, nil
}

// load gives the manifests as a finished deployment leaves them.
func (p *Previewer) load(ctx context.Context, req *Request, s *stage.Source) ([]manifest.Manifest, error) {
	manifests, err := p.loader.LoadPrimary(ctx, req.Targets, s)
	if err != nil {
		return nil, fmt.Errorf("load the manifests of %s at commit %.7s: %w", s.ConfigFilename, s.CommitHash, err)
	}
	return manifests, nil
}

func (p *Previewer) connect(ctx context.Context, target stage.Target) (*cluster.Client, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, p.reach, errUnreachable)
	defer cancel()
	reasons := &lastLine{}
	client, err := p.pool.Connect(bounded, target.Config, reasons)
	if err != nil && errors.Is(context.Cause(bounded), errUnreachable) && reasons.text != "" {
		return nil, errors.New(reasons.text)
	}
	return client, err
}

// lastLine keeps the newest of the lines that tell what is waited for.
type lastLine struct{ text string }

func (l *lastLine) Infof(format string, args ...any) {
	l.text = strings.TrimSpace(fmt.Sprintf(format, args...))
}
