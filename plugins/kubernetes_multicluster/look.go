// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/livestate"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/preview"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// GetLivestate reports what runs at the deploy targets, and how that differs from what was deployed to each.
func (p *plugin) GetLivestate(ctx context.Context, req *livestate.Request) (*sdk.Livestate, error) {
	all, others := places(req.Targets, req.Source, nil)
	if len(all) == 0 {
		return nil, nowhere(others)
	}
	q := livestate.Query{PipedID: req.PipedID, ApplicationID: req.ApplicationID,
		ApplicationName: req.ApplicationName}
	for _, at := range all {
		q.Destinations = append(q.Destinations, livestate.Destination{Target: at.target, Source: at.wanted})
	}
	return p.Livestate(ctx, q)
}

// GetDrift reports in which fields the deploy targets differ from Git.
func (p *plugin) GetDrift(ctx context.Context, req *livestate.DriftRequest) ([]sdk.ResourceDrift, error) {
	all, others := places(req.Targets, req.Source, req.Newest)
	if len(all) == 0 {
		return nil, nowhere(others)
	}
	q := livestate.Query{PipedID: req.PipedID, ApplicationID: req.ApplicationID,
		ApplicationName: req.ApplicationName}
	for _, at := range all {
		q.Destinations = append(q.Destinations, livestate.Destination{Target: at.target, Source: at.wanted,
			Newest: at.running})
	}
	return p.Drift(ctx, q)
}

// GetPlanPreview reports what a commit would change at each deploy target.
func (p *plugin) GetPlanPreview(ctx context.Context, req *preview.Request) ([]sdk.PlanPreview, error) {
	all, others := places(req.Targets, req.Target, req.Running)
	if len(all) == 0 {
		return nil, nowhere(others)
	}
	q := preview.Query{PipedID: req.PipedID, ApplicationID: req.ApplicationID}
	for _, at := range all {
		q.Destinations = append(q.Destinations, preview.Destination{Target: at.target, Running: at.running,
			Wanted: at.wanted})
	}
	previews, err := p.Preview(ctx, q)
	if err != nil {
		return nil, inMultiWords(err)
	}
	for _, name := range others {
		previews = append(previews, sdk.PlanPreview{Target: name, NoChange: true,
			Summary: "not deployed to: input.multiTargets has no entry for it"})
	}
	return previews, nil
}
