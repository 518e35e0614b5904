// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/strategy"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// DetermineVersions names the images of the workloads of all deploy targets, each once.
func (p *plugin) DetermineVersions(ctx context.Context, req *engine.PlanRequest) ([]sdk.ArtifactVersion, error) {
	var versions engine.Versions
	all, err := plannedPlaces(req)
	if err != nil {
		return nil, err
	}
	for _, at := range all {
		if err := stage.CheckPlan(req.Deployment, at.wanted); err != nil {
			return nil, err
		}
		manifests, err := p.load(ctx, req, at, at.wanted)
		if err != nil {
			return nil, err
		}
		if err := p.checkRoutes(ctx, req, at, manifests); err != nil {
			return nil, err
		}
		versions.Add(manifests, at.wanted.App.Workloads)
	}
	return versions.List(), nil
}

// DetermineStrategy compares the running manifests with the new ones at each deploy target. One that needs the pipeline
// is enough for it to be used.
func (p *plugin) DetermineStrategy(ctx context.Context, req *engine.PlanRequest) (*sdk.Strategy, error) {
	all, err := plannedPlaces(req)
	if err != nil {
		return nil, err
	}
	decisions := make([]strategy.Decision, len(all))
	for i, at := range all {
		wanted, err := p.load(ctx, req, at, at.wanted)
		if err != nil {
			return nil, err
		}
		if at.running == nil {
			decisions[i] = strategy.Decision{Summary: "Quick sync because nothing has been deployed before"}
			continue
		}
		running, err := p.load(ctx, req, at, at.running)
		if err != nil {
			return nil, err
		}
		decisions[i] = strategy.Decide(running, wanted, at.wanted.App.Workloads)
	}
	s := &sdk.Strategy{Sync: sdk.QuickSync, Summary: summary(all, decisions)}
	if slices.ContainsFunc(decisions, func(d strategy.Decision) bool { return d.Pipeline }) {
		s.Sync = sdk.PipelineSync
	}
	return s, nil
}

// maxReasons bounds the different reasons that a summary holds.
const maxReasons = 3

// summary returns the reasons of those who need the pipeline, or else of all; with the targets' names where they
// differ.
func summary(all []place, decisions []strategy.Decision) string {
	pipeline := slices.ContainsFunc(decisions, func(d strategy.Decision) bool { return d.Pipeline })
	targets := map[string][]string{}
	var reasons []string
	for i, d := range decisions {
		if d.Pipeline != pipeline {
			continue
		}
		if targets[d.Summary] == nil {
			reasons = append(reasons, d.Summary)
		}
		targets[d.Summary] = append(targets[d.Summary], all[i].target.Name)
	}
	if len(reasons) == 1 && len(targets[reasons[0]]) == len(all) {
		return reasons[0]
	}
	var texts []string
	for i, reason := range reasons {
		if i == maxReasons {
			texts = append(texts, fmt.Sprintf("and %d more reasons", len(reasons)-i))
			break
		}
		texts = append(texts, fmt.Sprintf("%s (at %s)", reason, strings.Join(targets[reason], ", ")))
	}
	return strings.Join(texts, "; ")
}

// plannedPlaces returns the places of a deployment that is being planned. In a plan preview the targets are not known
// (PipeCD v1); then those count that input.multiTargets reports, or one of any name.
func plannedPlaces(req *engine.PlanRequest) ([]place, error) {
	targets := req.Targets
	if len(targets) == 0 {
		for _, e := range req.Target.App.Input.MultiTargets {
			targets = append(targets, stage.Target{Name: e.Target.String(), Labels: e.Target.Labels})
		}
	}
	if len(targets) == 0 {
		targets = []stage.Target{{Name: "unknown"}}
	}
	all, others := places(targets, req.Target, req.Running)
	if len(all) == 0 {
		return nil, nowhere(others)
	}
	return all, nil
}

// checkRoutes refuses a pipeline that cannot route traffic at a place.
func (p *plugin) checkRoutes(ctx context.Context, req *engine.PlanRequest, at place,
	manifests []manifest.Manifest) error {
	return p.CheckRoutes(ctx, req.Deployment, targetsOf(req, at), at.wanted, at.running, manifests)
}

// targetsOf is the deploy target of a place; none in a plan preview.
func targetsOf(req *engine.PlanRequest, at place) []stage.Target {
	if len(req.Targets) == 0 {
		return nil
	}
	return []stage.Target{at.target}
}

// load loads a source of a place.
func (p *plugin) load(ctx context.Context, req *engine.PlanRequest, at place,
	s *stage.Source) ([]manifest.Manifest, error) {
	manifests, err := p.Load(ctx, targetsOf(req, at), s, stage.IsUpgrade(at.running))
	if err != nil {
		return nil, fmt.Errorf("load the manifests of %s at commit %s for deploy target %s: %w", s.ConfigFilename,
			s.CommitHash, at.target.Name, err)
	}
	return manifests, nil
}
