// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// parallelTargets bounds the deploy targets that are worked at simultaneously: each one holds the manifests in memory.
const parallelTargets = 8

// ExecuteStage runs a stage at its deploy targets.
func (p *plugin) ExecuteStage(ctx context.Context, req *stage.Request) (sdk.Result, error) {
	o, err := optionsOf(req)
	if err != nil {
		return sdk.Failure, err
	}
	chosen, err := placesOf(req, o.MultiTargets)
	if err != nil {
		return sdk.Failure, err
	}
	if keys := unusedKeys(&req.Target.App); len(keys) > 0 {
		req.Log.Infof("Warning: not used, since neither kubectl nor kustomize is run as a program: %s", strings.Join(keys, ", "))
	}
	for _, sentence := range config.Unread(req.Stage.GetName(), req.Options) {
		req.Log.Infof("Warning: %s", sentence)
	}
	if isRollback(req) {
		if chosen, err = touched(ctx, req, chosen); err != nil || len(chosen) == 0 {
			return sdk.Success, err
		}
	}
	results, err := p.runAt(ctx, req, chosen)
	if ctx.Err() != nil {
		return sdk.Failure, err
	}
	if err := results.show(ctx, req); err != nil {
		return sdk.Failure, err
	}
	return sdk.Success, results.judge(req, o.FailurePolicy, err)
}

// runAt runs the stage at each place. The error names each target that failed.
func (p *plugin) runAt(ctx context.Context, req *stage.Request, at []place) (*results, error) {
	r := newResults(at)
	all := *req
	all.Targets = nil
	byName := map[string]place{}
	for _, p := range at {
		all.Targets = append(all.Targets, p.target)
		byName[p.target.Name] = p
	}
	err := sdk.ForEachTarget(ctx, &all, parallelTargets, func(ctx context.Context, target stage.Target) error {
		err := inMultiWords(p.executor.Execute(ctx, byName[target.Name].request(req)))
		r.put(target.Name, err)
		return err
	})
	return r, err
}

// optionsOf reads which targets the stage is for and when it succeeds. A rollback is for all, and all have to succeed.
func optionsOf(req *stage.Request) (config.MultiOptions, error) {
	switch {
	case isRollback(req):
		return config.MultiOptions{}, nil
	case req.QuickSync():
		return req.Target.App.QuickSync.MultiOptions, nil
	}
	return config.DecodeMulti(req.Stage.GetName(), req.Options)
}

func isRollback(req *stage.Request) bool {
	name, _ := config.SingleName(req.Stage.GetName())
	return name == config.StageRollback
}

// touched gives the places that the deployment may have changed: only there is something to roll back. (PipeCD v1 rolls back
// everywhere.)
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

// results are how the deploy targets of a stage ended.
type results struct {
	order []string

	mu    sync.Mutex
	ended map[string]error
}

func newResults(at []place) *results {
	r := &results{ended: map[string]error{}}
	for _, p := range at {
		r.order = append(r.order, p.target.Name)
	}
	return r
}

func (r *results) put(target string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended[target] = err
}

func (r *results) failed() (names []string) {
	for _, name := range r.order {
		if r.ended[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// show puts the results beside the stage: a line for users, and each target for programs.
func (r *results) show(ctx context.Context, req *stage.Request) error {
	failed := r.failed()
	text := fmt.Sprintf("%d of %d deploy targets", len(r.order)-len(failed), len(r.order))
	if len(failed) > 0 {
		text += ", failed: " + strings.Join(failed, ", ")
	}
	if name, _ := config.SingleName(req.Stage.GetName()); name == config.StageTrafficRouting {
		if traffic, err := config.DecodeTraffic(req.Options); err == nil {
			text = traffic.String() + " at " + text
		}
	}
	values := map[string]string{sdk.DisplayMetadataKey: text}
	for _, name := range r.order {
		values["target/"+name] = "succeeded"
		if err := r.ended[name]; err != nil {
			values["target/"+name] = "failed: " + headline(err)
		}
	}
	return req.Client.PutStageMetadataMulti(ctx, values)
}

// judge gives the error that the stage ends with, if it does; err is all that failed.
func (r *results) judge(req *stage.Request, policy config.FailurePolicy, err error) error {
	failed := len(r.failed())
	switch {
	case err == nil || !policy.Allows(failed, len(r.order)):
		return err
	case failed == 0: // a target that was not even begun
		return err
	}
	req.Log.Error(err.Error())
	req.Log.Successf("The stage succeeds nevertheless, since failurePolicy is %s", policy)
	return nil
}

// headline is the first line of an error, cut off at a length that fits beside a stage.
func headline(err error) string {
	const most = 200
	line, _, _ := strings.Cut(err.Error(), "\n")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}
