// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/planpreview"
	"github.com/pipedeck/pipedeck/piped/source"
)

// previewMaker creates the part that reports what a merge would deploy.
func (a *Agent) previewMaker(sources *source.Sources, checks *pluginOptions) *planpreview.Maker {
	c := a.options.Config
	targets := map[string][]string{}
	for _, plugin := range c.Plugins {
		for _, target := range plugin.DeployTargets {
			targets[plugin.Name] = append(targets[plugin.Name], target.Name)
		}
	}
	plans := planner.New(planner.Options{
		Plugins: a.plugins, ControlPlane: a.upstream.client, Sources: sources, Logger: a.logger,
	})
	return planpreview.New(planpreview.Options{
		ProjectID: c.ProjectID, PipedID: c.PipedID, Repositories: a.repos.all(), ControlPlane: a.upstream.client,
		Planner: plans, AppSelector: c.AppSelector, Targets: targets, Mask: a.masker.Mask, Limits: c.PlanPreview,
		Mistakes: func(configuration []byte, filename string) config.Errors {
			errors, _ := checks.application(configuration, filename)
			return errors
		},
		Received: a.observed.metrics.PlanPreviewReceived, Handled: a.observed.metrics.PlanPreviewHandled,
		Logger: a.logger,
	})
}
