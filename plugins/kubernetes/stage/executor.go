// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Request, Source and Target are the SDK's types with the configuration of this plugin.
type (
	Request = sdk.ExecuteRequest[config.Plugin, config.DeployTarget, config.Application]
	Source  = sdk.Source[config.Application]
	Target  = sdk.DeployTarget[config.DeployTarget]
)

// At returns a source as it is at one of the deploy targets of an application of many clusters; nil when the source is
// nil or the application is not deployed there.
func At(s *Source, target Target) *Source {
	if s == nil {
		return nil
	}
	app := s.App.AtTarget(target.Name, target.Labels)
	if app == nil {
		return nil
	}
	at := *s
	at.App = *app
	return &at
}

// Executor runs stages. It may be used by several goroutines.
type Executor struct {
	loader *Loader
	pool   *cluster.Pool
	seen   *apply.Seen
	// readiness has the rules of UseHealth.
	readiness readiness
}

// NewExecutor creates an Executor. The pool stays the caller's.
func NewExecutor(loader *Loader, pool *cluster.Pool) *Executor {
	return &Executor{loader: loader, pool: pool, seen: apply.NewSeen()}
}

// UseHealth takes the rules by which objects are judged. It has to be called before the first Execute. The rules stay
// the caller's.
func (e *Executor) UseHealth(rules *health.Rules) { e.readiness.rules = rules }

// Execute runs the stage of the request to its end, at its first deploy target (PipeCD v1).
func (e *Executor) Execute(ctx context.Context, req *Request) error {
	if len(req.Targets) == 0 {
		return errors.New("no deploy targets provided")
	}
	if more := len(req.Targets) - 1; more > 0 {
		req.Log.Infof("Warning: the application has %d deploy targets, and this plugin deploys to the first one "+
			"alone: %s. To deploy to all, use the plugin kubernetes_multicluster and its K8S_MULTI_ stages",
			more+1, req.Targets[0].Name)
	}
	ctx, cancel := withDeadline(ctx, req)
	defer cancel()
	ctx, done := context.WithCancel(ctx)
	defer done()
	ctx = cluster.OutlastRestarts(ctx, req.Log)
	name, _ := config.SingleName(req.Stage.Name)
	if !withoutPipeline(name) {
		if err := CheckPipeline(req.Target); err != nil { // before anything is done that would have to be undone
			return err
		}
	}
	switch name {
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
	case config.StageTest:
		return e.test(ctx, req)
	case config.StageRollback:
		return e.rollback(ctx, req)
	case config.StageRemove:
		return e.remove(ctx, req)
	default:
		return fmt.Errorf("the kubernetes plugin has no stage %s", name)
	}
}

// withoutPipeline reports whether a stage also runs where there is no pipeline, or a wrong one.
func withoutPipeline(name string) bool {
	return name == config.StageSync || name == config.StageRollback || name == config.StageRemove
}

// isRollback reports whether the stage of the request is the rollback, for one cluster or for many.
func isRollback(req *Request) bool {
	name, _ := config.SingleName(req.Stage.Name)
	return name == config.StageRollback
}

func (e *Executor) connect(ctx context.Context, req *Request) (*cluster.Client, error) {
	target := req.Targets[0]
	client, err := e.pool.Connect(ctx, target.Config, req.Log)
	switch {
	case err != nil && req.Target.App.DeployTarget() == "": // who deploys to many says where
		return nil, fmt.Errorf("deploy target %s: %w", target.Name, err)
	case err != nil:
		return nil, err
	}
	return client, nil
}
