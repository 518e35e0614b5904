// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"context"
	"fmt"
	"regexp"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
)

// choice is a strategy with the reason that the user sees.
type choice struct {
	strategy model.SyncStrategy
	summary  string
	// asked is set when a user named the strategy.
	asked bool
}

// chooseStrategy follows PipeCD v1's rules in their order; the first match wins. Where PipeCD gives up
// because no plugin has an opinion, the pipeline is used.
func (p *Planner) chooseStrategy(
	ctx context.Context, d *model.Deployment, application *config.Application, plugins []applicationPlugin,
	sources *sources,
) (choice, error) {
	hasPipeline := application.Pipeline != nil && len(application.Pipeline.Stages) > 0
	trigger := d.GetTrigger()
	switch strategy := trigger.GetSyncStrategy(); strategy {
	case model.SyncStrategy_QUICK_SYNC, model.SyncStrategy_PIPELINE:
		if strategy == model.SyncStrategy_PIPELINE && !hasPipeline {
			return choice{}, fmt.Errorf(
				"a sync with the pipeline was asked for, but the application has none: add spec.pipeline or use a " +
					"quick sync",
			)
		}
		return choice{strategy: strategy, summary: trigger.GetStrategySummary(), asked: true}, nil
	}
	if !hasPipeline {
		return quick("Quick sync: no pipeline is configured"), nil
	}
	if application.Planner.AlwaysUsePipeline {
		return pipeline("Pipeline: alwaysUsePipeline is set"), nil
	}
	if trigger.GetCommander() == "" {
		if c, matched, err := byCommitMessage(
			trigger.GetCommit().GetMessage(), application.CommitMatcher,
		); matched || err != nil {
			return c, err
		}
	}
	if sources.running == nil {
		return quick("Quick sync: the first deployment of the application"), nil
	}
	return p.askPlugins(ctx, d, plugins, sources)
}

func quick(summary string) choice {
	return choice{strategy: model.SyncStrategy_QUICK_SYNC, summary: summary}
}

func pipeline(summary string) choice {
	return choice{strategy: model.SyncStrategy_PIPELINE, summary: summary}
}

func byCommitMessage(message string, matcher config.CommitMatcher) (choice, bool, error) {
	for _, rule := range []struct {
		field, pattern string
		result         choice
	}{
		{
			"pipeline", matcher.Pipeline,
			pipeline(fmt.Sprintf("Pipeline: the commit message matches %q", matcher.Pipeline)),
		},
		{
			"quickSync", matcher.QuickSync,
			quick(fmt.Sprintf("Quick sync: the commit message matches %q", matcher.QuickSync)),
		},
	} {
		if rule.pattern == "" {
			continue
		}
		expression, err := regexp.Compile(rule.pattern)
		if err != nil {
			return choice{}, false, fmt.Errorf(
				"spec.commitMatcher.%s: %q is not a regular expression: %w", rule.field, rule.pattern, err,
			)
		}
		if expression.MatchString(message) {
			return rule.result, true, nil
		}
	}
	return choice{}, false, nil
}

// askPlugins takes the first plugin that wants the pipeline, else the last answer.
func (p *Planner) askPlugins(
	ctx context.Context, d *model.Deployment, plugins []applicationPlugin, sources *sources,
) (choice, error) {
	last := pipeline("Sync with the specified pipeline, since no plugin has an opinion on the strategy")
	for _, plugin := range plugins {
		response, err := plugin.Deployment().DetermineStrategy(
			ctx, &deployment.DetermineStrategyRequest{Input: planInput(d, sources)},
		)
		switch {
		case died(err), quarantined(err), err != nil && ctx.Err() != nil:
			return choice{}, err
		case err != nil:
			p.options.Logger.Warn(
				"a plugin could not choose the strategy", "plugin", plugin.Name(), "deployment", d.GetId(), "error",
				err,
			)
		case response.GetUnsupported() || response.GetSyncStrategy() == model.SyncStrategy_AUTO:
		case response.GetSyncStrategy() == model.SyncStrategy_PIPELINE:
			return pipeline(response.GetSummary()), nil
		default:
			last = quick(response.GetSummary())
		}
	}
	return last, nil
}
