// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// parallelTargets bounds the deploy targets that are worked at simultaneously: each one holds the manifests in memory.
const parallelTargets = 8

// ExecuteStage runs a stage at its deploy targets.
func (p *plugin) ExecuteStage(ctx context.Context, req *stage.Request) (sdk.Result, error) {
	ctx, report := cluster.WithFaults(ctx, req.Log) // one count for all places
	defer report()
	o, err := optionsOf(req)
	if err != nil {
		return sdk.Failure, err
	}
	chosen, err := placesOf(req, o.MultiTargets)
	if err != nil {
		return sdk.Failure, err
	}
	if keys := unusedKeys(&req.Target.App); len(keys) > 0 {
		req.Log.Infof("Warning: not used, since neither kubectl nor kustomize is run as a program: %s",
			strings.Join(keys, ", "))
	}
	for _, sentence := range config.Unread(req.Stage.Name, req.Options) {
		req.Log.Infof("Warning: %s", sentence)
	}
	if isRollback(req) {
		if chosen, err = touched(ctx, req, chosen); err != nil || len(chosen) == 0 {
			return sdk.Success, err
		}
	}
	switch {
	case isRemoval(req):
		left, err := p.leftPlaces(ctx, req, chosen)
		if err != nil {
			return sdk.Failure, err
		}
		chosen = append(chosen, left...)
	case !isRollback(req):
		if err := noteTargets(ctx, req); err != nil {
			return sdk.Failure, err
		}
	}
	ended, err := p.runAt(ctx, req, chosen)
	if ctx.Err() != nil {
		return sdk.Failure, err
	}
	if err == nil && deploysAll(req) {
		p.sayLeft(ctx, req)
	}
	if err := ended.show(ctx, req); err != nil {
		return sdk.Failure, err
	}
	return sdk.Success, ended.judge(req, o.FailurePolicy, err)
}

// runAt runs the stage at each place. The error names each target that failed.
func (p *plugin) runAt(ctx context.Context, req *stage.Request, at []place) (*outcome, error) {
	r := newOutcome(at)
	all := *req
	all.Targets = nil
	byName := map[string]place{}
	for _, p := range at {
		all.Targets = append(all.Targets, p.target)
		byName[p.target.Name] = p
	}
	err := sdk.ForEachTarget(ctx, &all, parallelTargets, func(ctx context.Context, target stage.Target) error {
		r.put(target.Name, errUnfinished) // as it stays after a panic
		err := inMultiWords(p.Execute(ctx, byName[target.Name].request(req)))
		r.put(target.Name, err)
		return err
	})
	return r, err
}

// optionsOf reads which targets the stage is for and when it succeeds. A rollback and a removal are for all, and all
// have to succeed.
func optionsOf(req *stage.Request) (config.MultiOptions, error) {
	switch {
	case isRollback(req), isRemoval(req):
		return config.MultiOptions{}, nil
	case req.QuickSync():
		return req.Target.App.QuickSync.MultiOptions, nil
	}
	return config.DecodeMulti(req.Stage.Name, req.Options)
}

func isRollback(req *stage.Request) bool {
	name, _ := config.SingleName(req.Stage.Name)
	return name == config.StageRollback
}

func isRemoval(req *stage.Request) bool {
	name, _ := config.SingleName(req.Stage.Name)
	return name == config.StageRemove
}

// deploysAll reports whether a stage brings what is live to the new commit.
func deploysAll(req *stage.Request) bool {
	name, _ := config.SingleName(req.Stage.Name)
	return name == config.StageSync || name == config.StagePrimaryRollout
}

// touched returns the places that the deployment may have changed: only there is something to roll back. (PipeCD v1
// rolls back everywhere.)
func touched(ctx context.Context, req *stage.Request, all []place) ([]place, error) {
	var changed []place
	for _, p := range all {
		begun, err := stage.HasBegun(ctx, p.request(req))
		if err != nil {
			return nil, err
		}
		if begun {
			changed = append(changed, p)
			continue
		}
		req.Log.Infof("Deploy target %s: nothing to roll back, no stage has changed it", p.target.Name)
	}
	return changed, nil
}
