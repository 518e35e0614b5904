// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Request, Source and Target are the SDK's, for this plugin's configuration.
type (
	Request = sdk.ExecuteRequest[sdk.None, config.DeployTarget, config.Application]
	Source  = sdk.Source[config.Application]
	Target  = sdk.DeployTarget[config.DeployTarget]
)

// Executor runs stages. It may be used by several goroutines.
type Executor struct {
	loader *Loader
	pool   *cluster.Pool
}

// NewExecutor makes an Executor. The pool stays the caller's.
func NewExecutor(loader *Loader, pool *cluster.Pool) *Executor {
	return &Executor{loader: loader, pool: pool}
}

// Execute runs the stage of the request to its end.
func (e *Executor) Execute(ctx context.Context, req *Request) error {
	if len(req.Targets) == 0 {
		return errors.New("no deploy targets provided")
	}
	if len(req.Targets) > 1 {
		req.Log.Infof("The application has %d deploy targets; only the first one, %s, is deployed to", len(req.Targets), req.Targets[0].Name)
	}
	switch name := req.Stage.GetName(); name {
	case config.StageSync:
		return e.sync(ctx, req)
	case config.StagePrimaryRollout:
		return e.primary(ctx, req)
	case config.StageCanaryRollout:
		return e.canary(ctx, req)
	case config.StageCanaryClean:
		return e.clean(ctx, req, req.Target.App.VariantLabel.CanaryValue)
	case config.StageBaselineRollout:
		return e.baseline(ctx, req)
	case config.StageBaselineClean:
		return e.clean(ctx, req, req.Target.App.VariantLabel.BaselineValue)
	case config.StageTrafficRouting:
		return e.route(ctx, req)
	case config.StageRollback:
		return e.rollback(ctx, req)
	default:
		return fmt.Errorf("the kubernetes plugin has no stage %s", name)
	}
}

func (e *Executor) connect(ctx context.Context, req *Request) (*cluster.Client, error) {
	target := req.Targets[0]
	client, err := e.pool.Connect(ctx, target.Config, req.Log)
	if err != nil {
		return nil, fmt.Errorf("deploy target %s: %w", target.Name, err)
	}
	return client, nil
}
