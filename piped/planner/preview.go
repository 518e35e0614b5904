// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/clock"
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

// Preview works out the plan of a deployment that no one has created, and hands it to look. The sources go when look
// returns, whose error is passed on. Nothing is reported.
func (p *Planner) Preview(
	ctx context.Context, draft *model.Deployment, look func(context.Context, Preview) error,
) error {
	d := proto.CloneOf(draft)
	running, err := p.running(ctx, d.GetApplicationId())
	if err != nil {
		return err
	}
	application, plugins, err := p.participants(ctx, d)
	if err != nil {
		return err
	}
	// Both in full, whatever planning needs: previews compare them.
	sources, err := p.prepare(ctx, d, running, deployment.SourceUse_SOURCE_USE_UNSPECIFIED)
	if err != nil {
		return err
	}
	defer sources.close()
	if sources.running != nil {
		d.RunningCommitHash, d.RunningConfigFilename = running.GetTrigger().
			GetCommit().
			GetHash(),
			running.GetConfigFilename()
	}
	preview := Preview{Target: sources.target.Proto(), Running: sources.runningProto()}
	for _, plugin := range plugins {
		preview.Plugins = append(preview.Plugins, plugin.Plugin)
	}
	if err := p.predict(ctx, d, application, plugins, sources, &preview); err != nil {
		return err
	}
	return look(ctx, preview)
}

// predict chooses the strategy, and builds the stages: a pipeline is used in place of a quick sync without any, and
// options that are wrong are found.
func (p *Planner) predict(
	ctx context.Context, d *model.Deployment, application *config.Application, plugins []applicationPlugin,
	sources *sources, preview *Preview,
) error {
	ctx, cancel := clock.WithHeldTimeout(ctx, clock.System{}, pluginTimeout, p.options.Plugins.HeldTime,
		fmt.Errorf("the plugins did not plan within %s", pluginTimeout))
	defer cancel()
	var choice choice
	err := Retry(ctx, preview.Plugins, func() (err error) {
		if choice, err = p.chooseStrategy(ctx, d, application, plugins, sources); err == nil {
			_, choice, err = buildStages(ctx, plugins, application, choice)
		}
		return err
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		preview.Problem = plain(err)
		return nil
	}
	preview.Strategy, preview.Summary = choice.strategy, choice.summary+sources.note+p.leftOut(ctx, d)
	return nil
}
