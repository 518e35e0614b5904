// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/config"
	"github.com/pipedeck/pipedeck/plugins/terraform/session"
)

// rollback is TERRAFORM_ROLLBACK: it plans and applies the commit that ran before.
func (p *plugin) rollback(ctx context.Context, req *executeRequest) (sdk.Result, error) {
	var options config.ApplyOptions // those of the configured stage are for the way there
	var targets []session.Target
	for _, target := range req.Targets {
		touched, _, err := touchedKey(target.Name).Get(ctx, req.Client)
		if err != nil {
			return sdk.Failure, err
		}
		if !touched {
			at(req, target).Log.Info("Nothing to roll back: this deployment has changed nothing here")
			continue
		}
		targets = append(targets, target)
	}
	if len(targets) == 0 {
		return sdk.Success, nil
	}
	if req.Running == nil {
		return sdk.Failure, errors.New("there is no commit to return to: this is the first deployment\n" +
			"next step: correct the configuration and deploy again; what has been created stays in the state")
	}
	plans, changes, unexpected := map[string]ready{}, summaries{}, summaries{}
	waits := newLockWaits(req)
	for _, target := range targets {
		found, err := p.way(ctx, at(req, target), target, waits)
		if err != nil {
			return sdk.Failure, atTarget(req, target, err)
		}
		plans[target.Name] = found
		changes.add(target.Name, found.plan.Changes)
		unexpected.add(target.Name, found.asks)
	}
	if err := putPlanned(ctx, req, changes); err != nil {
		return sdk.Failure, err
	}
	if err := guard(ctx, req, &options, destroyed(unexpected)); err != nil {
		return sdk.Failure, err
	}
	some := *req
	some.Targets = targets
	err := sdk.ForEachTarget(ctx, &some, maxAtOnce, func(ctx context.Context, target session.Target) error {
		found := plans[target.Name]
		if found.plan.Changes.Empty() {
			return nil
		}
		return p.run(ctx, at(req, target), found)
	})
	if err != nil {
		return sdk.Failure, err
	}
	return sdk.Success, nil
}

// way is the plan back, and what it destroys besides what this deployment has created.
func (p *plugin) way(ctx context.Context, req *executeRequest, target session.Target, waits *lockWaits) (ready,
	error) {
	s, err := p.open(ctx, req, req.Running, target, waits)
	if err != nil {
		return ready{}, err
	}
	kept, err := p.files(req.Deployment.ID, target.Name)
	if err != nil {
		return ready{}, err
	}
	plan, err := s.Plan(ctx, session.PlanOptions{File: kept.back()})
	if err != nil {
		return ready{}, err
	}
	show(req, plan)
	there, err := kept.getChanges()
	if err != nil {
		return ready{}, fmt.Errorf("read what the deployment has changed: %w", err)
	}
	return ready{s, plan, plan.Changes.Without(there)}, nil
}
