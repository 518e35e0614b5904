// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// Preview is the plan that a deployment would get.
type Preview struct {
	// Plugins are those of the application, in the order in which they would be asked.
	Plugins []*pluginhost.Plugin
	// Target and Running are what plugins get to see; Running is nil before the first success.
	Target, Running *common.DeploymentSource
	// Strategy is AUTO and Problem says why when there would be no plan.
	Strategy model.SyncStrategy
	Summary  string
	Problem  error
}

// Preview works out the plan of a deployment that nobody has created, and hands it to look. The sources go when look
// returns, whose error is passed on. Nothing is reported.
func (p *Planner) Preview(ctx context.Context, draft *model.Deployment, look func(context.Context, Preview) error) error {
	d := proto.CloneOf(draft)
	sources, err := p.previewSources(ctx, d)
	if err != nil {
		return err
	}
	defer sources.close()
	preview := Preview{Target: sources.target.Proto(), Running: sources.runningProto()}
	if err := p.foresee(ctx, d, sources, &preview); err != nil {
		return err
	}
	return look(ctx, preview)
}

// previewSources are both sources in full, since plugins compare them. Without the running commit the preview is that of a
// first deployment, as the plan would be.
func (p *Planner) previewSources(ctx context.Context, d *model.Deployment) (*sources, error) {
	running, err := p.running(ctx, d.GetApplicationId())
	if err != nil {
		return nil, err
	}
	target, err := p.options.Prepare(ctx, d, d.GetTrigger().GetCommit().GetHash(), "")
	if err != nil {
		return nil, err
	}
	all := &sources{target: target}
	commit := running.GetTrigger().GetCommit().GetHash()
	if commit == "" {
		return all, nil
	}
	was, err := p.options.Prepare(ctx, d, commit, running.GetConfigFilename())
	if err != nil {
		all.note = fmt.Sprintf(" (without the running commit %.7s: %v)", commit, err)
		return all, nil
	}
	all.running = was
	d.RunningCommitHash, d.RunningConfigFilename = commit, running.GetConfigFilename()
	return all, nil
}

func (p *Planner) foresee(ctx context.Context, d *model.Deployment, sources *sources, preview *Preview) error {
	ctx, cancel := context.WithTimeoutCause(ctx, pluginTimeout, fmt.Errorf("the plugins did not plan within %s", pluginTimeout))
	defer cancel()
	application := sources.target.Application()
	plugins, err := p.applicationPlugins(ctx, application)
	if err != nil {
		return err
	}
	for _, plugin := range plugins {
		if err := waitRunning(ctx, plugin.Plugin); err != nil {
			return err
		}
		preview.Plugins = append(preview.Plugins, plugin.Plugin)
	}
	choice, err := p.chooseStrategy(ctx, d, application, plugins, sources)
	if err == nil {
		// A pipeline is used in place of a quick sync without stages, and options that are wrong are found.
		_, choice, err = buildStages(ctx, plugins, application, choice)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		preview.Problem = err
		return nil
	}
	preview.Strategy, preview.Summary = choice.strategy, choice.summary+sources.note+p.leftOut(ctx, d)
	return nil
}
