// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"slices"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// Plugin is one configured plugin, and clients for it. One process answers new calls; those that it has
// replaced finish theirs alongside it.
type Plugin struct {
	config     config.Plugin
	limits     limits
	output     *output
	condition  *condition
	suspicion  *suspicion
	launcher   *launcher
	supervisor *supervisor
	caller     *caller
}

// newPlugin joins the parts of a plugin.
func newPlugin(
	c config.Plugin, options *Options, changes *broadcast, fetcher *fetch.Fetcher, tree *processtree.Tree,
) *Plugin {
	logger := options.Logger.With("plugin", c.Name)
	p := &Plugin{
		config: c, limits: limitsOf(c.Limits), output: newOutput(options.LogDir, c.Name, options.Mask),
		condition: newCondition(c.Name, changes),
	}
	p.output.now = options.Clock.Now
	ends := newExitFile(options.ExitDir, c.Name, logger)
	p.condition.exits.last = ends.read()
	if options.Echo {
		p.output.echo = func(line string) { logger.Info("plugin output", "line", line) }
	}
	suspicion, renewed := newSuspicion(c.Name, options.Clock, changes), make(chan struct{}, 1)
	builds := &builds{
		plugin: c.Name, reload: !options.NoReload, clock: options.Clock, condition: p.condition, changes: changes,
		renewed: renewed,
	}
	builds.program = programOf(c.URL)
	p.suspicion = suspicion
	remains := &remains{plugin: c.Name, outer: tree, logger: logger}
	p.launcher = &launcher{
		config: c, options: options, output: p.output, limits: p.limits, remains: remains, suspicion: suspicion,
		debugger: &debugger{changed: changes.notify}, logger: logger,
	}
	p.supervisor = &supervisor{
		plugin: c.Name, port: c.Port, options: options, logger: logger, output: p.output, condition: p.condition,
		binaries: newBinaries(c, options, fetcher, p.condition, logger), launcher: p.launcher, remains: remains,
		suspicion: suspicion, builds: builds, restart: make(chan struct{}, 1), renewed: renewed,
		attacher: newAttacher(p.launcher, p.condition, logger), ends: ends,
	}
	p.caller = &caller{
		plugin: c.Name, condition: p.condition, builds: builds, suspicion: suspicion, service: options.Service,
		ender: p.supervisor,
	}
	return p
}

// Name is the name in the piped configuration: the key in applications and deploy targets.
func (p *Plugin) Name() string { return p.config.Name }

// WaitRunning returns when the plugin answers. It returns a NotRunningError when the plugin has failed for
// good, and that of its last state when ctx ends first.
func (p *Plugin) WaitRunning(ctx context.Context) error {
	defer waitsFor(ctx, p.Name())()
	return p.condition.await(ctx)
}

// HeldTime is how long debuggers have held the plugin in all so far. Whoever waits for the plugin with a time limit
// adds it to the limit.
func (p *Plugin) HeldTime() time.Duration { return p.launcher.held() }

// State is what the plugin is doing now.
func (p *Plugin) State() agentv1.Plugin_State { return p.condition.now() }

// Offers reports whether the plugin names the stage.
func (p *Plugin) Offers(stage string) bool {
	return slices.Contains(p.condition.abilities().stages, stage)
}

// Reentrant reports whether a stage of the plugin may be executed again when its process has ended during it.
func (p *Plugin) Reentrant(stage string) bool { return p.condition.abilities().reentrant(stage) }

// TakesClusterFaults reports whether the stages of the plugin have faults happen in their calls to a cluster.
func (p *Plugin) TakesClusterFaults() bool { return p.condition.sourceUse().GetClusterFaults() }

// PlanningSources returns which sources the plugin reads to answer for versions and for a strategy.
func (p *Plugin) PlanningSources() deployment.SourceUse { return p.condition.sourceUse().GetPlanning() }

// RemovalStage names the stage that deletes what an application has deployed; empty when the plugin has none.
func (p *Plugin) RemovalStage() string { return p.condition.sourceUse().GetRemoval() }

// Deployment is a client that follows the plugin from process to process.
func (p *Plugin) Deployment() deployment.DeploymentServiceClient {
	return deployment.NewDeploymentServiceClient(p.caller)
}

// Livestate is a client that follows the plugin from process to process.
func (p *Plugin) Livestate() livestate.LivestateServiceClient {
	return livestate.NewLivestateServiceClient(p.caller)
}

// LivestateChanges is a client that follows the plugin from process to process.
func (p *Plugin) LivestateChanges() livestate.LivestateChangeServiceClient {
	return livestate.NewLivestateChangeServiceClient(p.caller)
}

// LivestateDrift is a client that follows the plugin from process to process.
func (p *Plugin) LivestateDrift() livestate.LivestateDriftServiceClient {
	return livestate.NewLivestateDriftServiceClient(p.caller)
}

// PlanPreview is a client that follows the plugin from process to process.
func (p *Plugin) PlanPreview() planpreview.PlanPreviewServiceClient {
	return planpreview.NewPlanPreviewServiceClient(p.caller)
}

// Status is a snapshot owned by the caller.
func (p *Plugin) Status() *agentv1.Plugin {
	s := &agentv1.Plugin{
		Name:             p.config.Name,
		MemoryLimitBytes: p.limits.memory,
		CpuLimitCores:    p.limits.cpu,
		PidsLimit:        uint32(p.limits.pids),
	}
	p.output.status(s)
	for _, t := range p.config.DeployTargets {
		s.DeployTargets = append(s.DeployTargets, t.Name)
	}
	p.condition.status(s)
	s.PipedService = p.launcher.options.ServiceAddress
	return s
}
