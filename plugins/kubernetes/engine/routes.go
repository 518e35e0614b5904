// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/strategy"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// CheckRoutes refuses a deployment whose pipeline cannot route traffic by the manifests, with the code that ends a
// plan. A deployment that may be a quick sync passes: its stages say the same before they change anything. running is
// nil before the first deployment.
func (e *Engine) CheckRoutes(ctx context.Context, d *sdk.Deployment, targets []stage.Target, wanted,
	running *stage.Source, manifests []manifest.Manifest) error {
	if !stage.RoutesTraffic(wanted) || !e.usesPipeline(ctx, d, targets, wanted, running, manifests) {
		return nil
	}
	namespace := ""
	if len(targets) > 0 {
		namespace = e.pool.Namespace(targets[0].Config)
	}
	if err := stage.CheckRoutes(manifests, wanted, namespace); err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return nil
}

// usesPipeline reports whether a deployment is known to use the pipeline.
func (e *Engine) usesPipeline(ctx context.Context, d *sdk.Deployment, targets []stage.Target, wanted,
	running *stage.Source, manifests []manifest.Manifest) bool {
	switch asked := d.Trigger.Sync; {
	case asked == sdk.PipelineSync:
		return true
	case asked == sdk.QuickSync, running == nil:
		return false
	}
	before, err := e.Load(ctx, targets, running, stage.IsUpgrade(running))
	if err != nil {
		return false // the choice of the strategy says so
	}
	return strategy.Decide(before, manifests, wanted.App.Workloads).Pipeline
}
