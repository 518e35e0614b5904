// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/breakpoint"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/eventwatcher"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/plugincalls"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
	"github.com/pipedeck/pipedeck/piped/rerun"
	"github.com/pipedeck/pipedeck/piped/scheduler"
	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/piped/source"
	"github.com/pipedeck/pipedeck/piped/trigger"
	"github.com/pipedeck/pipedeck/system/clock"
)

// work are the parts that deploy: they follow the control plane and the repositories.
type work struct {
	feed    *feed
	repos   *repositories
	metrics func(context.Context) error
	memory  memory
}

// newWork creates the parts that deploy; nothing starts before Run.
func (a *Agent) newWork(registry *pluginservice.Registry, commands *pluginservice.Commands,
	sources *source.Sources, checks *pluginOptions) *work {
	c, client := a.options.Config, a.upstream.client
	f := &feed{
		controlPlane: client, watcher: controlplane.NewWatcher(client, nil, a.logger), commands: commands,
		plugins: a.plugins, logger: a.logger, listed: a.problems.listed,
		calls:  plugincalls.NewAnswerer(a.pluginCalls, client, a.logger),
		faults: newFaultReporter(a.options.Faults, client, a.logger),
	}
	f.breakpoints = breakpoint.NewSet(a.options.Breakpoints, f.watcher.Heard, a.logger)
	f.previews = a.previewMaker(sources, checks)
	mistakes := newConfigurationMistakes(a.problems.registry.Touch)
	unregistered := &unregisteredApplications{changed: a.problems.registry.Touch, ours: f.watcher.Heard}
	a.problems.watch(mistakes.problems, unregistered.problems)
	f.live = a.liveReporter(sources, func() { f.trigger.ApplicationsChanged() })
	plans := planner.New(planner.Options{
		Plugins: a.plugins, ControlPlane: client, Sources: sources, Options: mistakes.planned(checks),
		Tracer: a.upstream.tracer, Logger: a.logger, Waits: planningWaits(client, f.watcher.Heard, a.logger),
	})
	f.controller = scheduler.NewController(scheduler.ControllerOptions{
		Planner: &watchedPlanner{plans, mistakes},
		Scheduler: scheduler.New(scheduler.Options{
			Plugins: a.plugins, ControlPlane: client, Stages: registry, Metadata: registry, Commands: commands,
			Sources: sources, Announce: announce(f.watcher.Heard, a.masker), Failpoints: a.options.Failpoints,
			Faults: a.options.Faults, Pauses: scheduler.PauseOptions{Breakpoints: f.breakpoints, Check: checks.stage},
			Tracer: a.upstream.tracer, Logger: a.logger,
		}),
		ControlPlane: client, Deployments: registry, Scratches: registry, Commands: commands, Logger: a.logger,
		Ended: func(application string) { f.trigger.DeploymentEnded(application) },
	})
	f.reruns = rerun.NewRunner(f.controller, client, a.masker.Mask, a.logger)
	f.trigger = trigger.New(trigger.Options{
		ProjectID: c.ProjectID, PipedID: c.PipedID, AppSelector: c.AppSelector,
		Repositories: a.repos.all(), ControlPlane: client, Deployments: f.controller,
		Interval: c.SyncInterval.Std(), Broken: a.observed.notifyBroken, Uses: a.uses, PluginReporter: client,
		Removals: a.removals(client, plans, f.watcher.Heard), Configured: mistakes.configured,
		Unregistered: unregistered.found,
		Looked:       a.problems.looked, Logger: a.logger,
		Passed: func(err error) {
			a.problems.passed(err)
			f.events.Looked()
		},
	})
	f.events = eventwatcher.New(eventwatcher.Options{
		ControlPlane: client, Repositories: a.repos.all(), Config: c.EventWatcher,
		Name: c.Git.Username, Email: c.Git.Email, Handled: a.observed.metrics.EventHandled,
		Passed: a.problems.eventsPassed, Logger: a.logger,
	})
	return &work{
		feed: f, repos: a.repos,
		metrics: func(ctx context.Context) error { return a.observed.metrics.Run(ctx, client) },
		memory:  memory{f.controller.Idle(), clock.System{}, debug.FreeOSMemory},
	}
}

// announce reports with what a stage is executed only to a control plane of ours, which shows it: others would get
// metadata that no one reads.
func announce(heard func() bool, masker *secrets.Masker) func(*agentv1.StageRun) *agentv1.StageRun {
	return func(run *agentv1.StageRun) *agentv1.StageRun {
		if !heard() {
			return nil
		}
		return masker.Message(run).(*agentv1.StageRun)
	}
}

// Run works until ctx ends or a part fails. restart is called when the control plane asks for a restart of piped.
func (w *work) Run(ctx context.Context, restart context.CancelCauseFunc) error {
	parts, ctx := errgroup.WithContext(ctx)
	for _, run := range []func(context.Context) error{
		w.feed.controller.Run, w.repos.run, w.feed.trigger.Run, w.awaitPlugins, w.feed.previews.Run, w.feed.live.Run,
		w.feed.watcher.Run, w.metrics, w.feed.events.Run, w.feed.faults.Run,
		func(ctx context.Context) error { w.memory.run(ctx); return nil },
		func(ctx context.Context) error { return w.feed.Run(ctx, restart) },
	} {
		parts.Go(func() error { return run(ctx) })
	}
	return parts.Wait()
}

// awaitPlugins has the trigger look again once the owners of all stages are known.
func (w *work) awaitPlugins(ctx context.Context) error {
	if w.feed.plugins.Settled(ctx) == nil {
		w.feed.trigger.PluginsSettled()
	}
	return nil
}
