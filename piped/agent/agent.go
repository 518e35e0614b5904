// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/controlplane/spool"
	"github.com/pipedeck/pipedeck/piped/eventwatcher"
	"github.com/pipedeck/pipedeck/piped/failpoint"
	"github.com/pipedeck/pipedeck/piped/health"
	"github.com/pipedeck/pipedeck/piped/livestate"
	"github.com/pipedeck/pipedeck/piped/metrics"
	"github.com/pipedeck/pipedeck/piped/notifier"
	"github.com/pipedeck/pipedeck/piped/observe"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/planpreview"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
	"github.com/pipedeck/pipedeck/piped/scheduler"
	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/piped/source"
	"github.com/pipedeck/pipedeck/piped/tracing"
	"github.com/pipedeck/pipedeck/piped/trigger"
	"github.com/pipedeck/pipedeck/piped/workdir"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// Options of an Agent.
type Options struct {
	Config *config.Piped
	// Version is what the control plane and /version show; LauncherVersion is a label of metrics.
	Version, LauncherVersion string
	// Insecure talks to the control plane without TLS; CertFile names the only authorities to trust.
	Insecure bool
	CertFile string
	// MaxReceiveBytes bounds an answer of the control plane; 0 for the default.
	MaxReceiveBytes int
	// AdminHost is the address that AdminPort is taken on. Default DefaultAdminHost.
	AdminHost string
	// AdminPort is taken on AdminHost, PluginServicePort on 127.0.0.1; 0 takes free ones.
	AdminPort, PluginServicePort int
	// WorkDir holds mirrors, sources and plugin binaries; ToolsDir what plugins install. One process may
	// use a WorkDir at a time.
	WorkDir, ToolsDir string
	// LogDir gets a file of output per plugin. Empty puts the files into the work directory, and the output into
	// piped's log as well.
	LogDir string
	// GracePeriod is the time for plugins to stop, PluginStartTimeout that to answer after a start.
	GracePeriod, PluginStartTimeout time.Duration
	// PluginHangTimeout is the time for a plugin to answer a question for its health; negative for ever.
	PluginHangTimeout time.Duration
	// NoPluginReload leaves a plugin running when its binary changes, until it is restarted.
	NoPluginReload bool
	// RefetchPlugins throws the kept copies of plugin binaries away first.
	RefetchPlugins bool
	// NoMetrics measures nothing: /metrics is empty, and so is what the control plane gets.
	NoMetrics bool
	// Failpoints are for tests; nil for none.
	Failpoints *failpoint.Set
	Logger     *slog.Logger
}

// Agent is a whole piped.
type Agent struct {
	options    Options
	logger     *slog.Logger
	client     *controlplane.Client
	spool      *spool.Spool
	service    *pluginservice.Server
	admin      *admin
	plugins    *pluginhost.Host
	repos      *repositories
	sources    *source.Sources
	watcher    *controlplane.Watcher
	controller *scheduler.Controller
	commands   *pluginservice.Commands
	trigger    *trigger.Trigger
	previews   *planpreview.Maker
	live       *livestate.Reporter
	// deployments notifies live of deployments that begin and end.
	deployments livestate.Deployments
	notifier    *notifier.Notifier
	metrics     *metrics.Metrics
	observer    *observe.Observer
	masker      *secrets.Masker
	tracer      *tracing.Tracer
	decrypter   secrets.Decrypter
	problems    *health.Registry
	introduced  atomic.Bool
	unlock      func()
}

// New opens what can be opened without waiting: directories, ports, mirrors. Run must follow, it closes
// them.
func New(options Options) (_ *Agent, err error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	masker := secrets.NewMasker()
	a := &Agent{options: options, logger: masking(options.Logger, masker), masker: masker,
		commands: pluginservice.NewCommands(), problems: health.New(nil)}
	if err := workdir.Claim(options.WorkDir, a.logger); err != nil {
		return nil, err
	}
	if a.unlock, err = lock(options.WorkDir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.close()
			err = masker.Error(err)
		}
	}()
	key, err := options.Config.Key()
	if err != nil {
		return nil, err
	}
	if a.decrypter, err = openSecrets(options.Config, key, masker); err != nil {
		return nil, err
	}
	if err := a.connect(key); err != nil {
		return nil, err
	}
	a.repos, err = openRepositories(repositoryOptions{
		piped: options.Config, workDir: options.WorkDir, decrypter: a.decrypter, masker: masker, logger: a.logger,
		updated: a.metrics.RepositoryUpdated, watched: a.watched, damaged: a.mirrorDamaged,
	})
	if err != nil {
		return nil, err
	}
	a.sources = source.NewSources(a.repos.store, a.repos.byID, a.tracer)
	return a, a.assemble()
}

// assemble creates the parts and connects them.
func (a *Agent) assemble() (err error) {
	registry := pluginservice.NewRegistry()
	if a.decrypter != nil {
		sealer, err := secrets.NewSealer(a.decrypter, a.masker)
		if err != nil {
			return err
		}
		registry = pluginservice.NewSealingRegistry(sealer, a.logger)
	}
	a.service, err = pluginservice.Listen(pluginservice.Options{
		Port: a.options.PluginServicePort, ControlPlane: a.client, Registry: registry, Commands: a.commands,
		Guarded: true, ToolsDir: a.options.ToolsDir, Logger: a.logger,
	})
	if err != nil {
		return err
	}
	if a.admin, err = listenAdmin(a.options.AdminHost, a.options.AdminPort, a.options.Version, a.health,
		a.metrics.Handler()); err != nil {
		return err
	}
	checks := newPluginOptions(a.options.Config, a.logger)
	if a.plugins, err = a.hostPlugins(checks); err != nil {
		return err
	}
	a.previews = a.previewMaker()
	a.live = a.liveReporter()
	a.watcher = controlplane.NewWatcher(a.client, nil, a.logger)
	a.controller = scheduler.NewController(scheduler.ControllerOptions{
		Planner: planner.New(planner.Options{
			Plugins: a.plugins, ControlPlane: a.client, Sources: a.sources, Options: checks.application,
			Tracer: a.tracer, Logger: a.logger,
		}),
		Scheduler: scheduler.New(scheduler.Options{
			Plugins: a.plugins, ControlPlane: a.client, Stages: registry, Metadata: registry, Commands: a.commands,
			Sources: a.sources, Failpoints: a.options.Failpoints, Tracer: a.tracer, Logger: a.logger,
		}),
		ControlPlane: a.client, Deployments: registry, Commands: a.commands, Logger: a.logger,
	})
	a.trigger = trigger.New(trigger.Options{
		ProjectID: a.options.Config.ProjectID, PipedID: a.options.Config.PipedID,
		AppSelector:  a.options.Config.AppSelector,
		Repositories: a.repos.all(), ControlPlane: a.client, Deployments: a.controller,
		Interval: a.options.Config.SyncInterval.Std(), Broken: a.notifyBroken, Uses: a.uses, PluginReporter: a.client,
		Looked: a.looked, Passed: a.passed, Logger: a.logger,
	})
	a.watchHealth()
	return nil
}

// hostPlugins creates the host of the plugins; nothing starts before it is run.
func (a *Agent) hostPlugins(checks *pluginOptions) (*pluginhost.Host, error) {
	binaries := fetch.BinaryDir(a.options.WorkDir)
	if a.options.RefetchPlugins {
		if err := os.RemoveAll(binaries); err != nil { // in the work directory, which is marked as ours
			return nil, fmt.Errorf("remove the copies of plugin binaries: %w", err)
		}
	}
	tree, err := processtree.Keep(filepath.Join(a.options.WorkDir, processtree.FileName))
	if err != nil {
		return nil, err
	}
	return pluginhost.New(pluginhost.Options{
		ProcessTree: tree,
		Plugins:     a.options.Config.Plugins, PluginIndex: a.options.Config.PluginIndex, BinaryDir: binaries,
		ServiceAddress: a.service.Address(), Service: a.service, StartTimeout: a.options.PluginStartTimeout,
		GracePeriod: a.options.GracePeriod,
		HangTimeout: a.options.PluginHangTimeout, NoReload: a.options.NoPluginReload,
		LogDir: cmp.Or(a.options.LogDir, filepath.Join(a.options.WorkDir, "plugin-logs")), Echo: a.options.LogDir == "",
		Mask: a.maskLine, Logger: a.logger,
		Observer: pluginhost.Observer{Calls: a.calls, Started: a.tracer.PluginStarted, Described: checks.described},
	})
}

// Run works until ctx ends or a part fails. Deployments that are under way then go on at the next start.
func (a *Agent) Run(ctx context.Context) error {
	defer a.close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	// What plugins and operators talk to outlives the work.
	base, stopBase := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBase()
	ground, base := errgroup.WithContext(base)
	ground.Go(func() error { return a.service.Run(base) })
	ground.Go(func() error { return a.admin.Run(base) })
	ground.Go(func() error { return a.plugins.Run(base) })
	ground.Go(func() error { return a.notifier.Run(base) })
	unlink := context.AfterFunc(base, func() { stop(nil) }) // a part of the ground has failed
	defer unlink()
	a.logger.Info("piped started", "version", a.options.Version, "work_dir", a.options.WorkDir,
		"plugin_service", a.service.Address(), "admin", a.admin.listener.Addr())

	err := a.work(ctx, base, stop, ground)
	if err == nil && ctx.Err() != nil {
		a.logger.Info("piped is stopping; running deployments go on at the next start", "reason", context.Cause(ctx))
	}
	if a.introduced.Load() {
		a.notify(observe.PipedStopped)
	}
	stopBase()
	return a.masker.Error(errors.Join(err, ground.Wait()))
}

// work runs what deploys: it starts once the control plane has accepted this piped.
func (a *Agent) work(ctx, base context.Context, stop context.CancelCauseFunc, ground *errgroup.Group) error {
	introduction := introduction{a.client, a.options.Config, a.decrypter, a.options.Version, clock.System{}, a.logger}
	if err := introduction.send(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	a.introduced.Store(true)
	a.notify(observe.PipedStarted)
	ground.Go(func() error { return a.spool.Run(base, a.client) })
	ground.Go(func() error { return a.followPlugins(base) })
	ground.Go(func() error {
		return health.NewReporter(a.problems, agentv1.AgentServiceClient(a.client), a.logger).Run(base)
	})
	ground.Go(func() error {
		return pluginhost.NewReporter(a.plugins, agentv1.AgentServiceClient(a.client), a.logger).Run(base)
	})

	works, ctx := errgroup.WithContext(ctx)
	works.Go(func() error { return a.controller.Run(ctx) })
	works.Go(func() error {
		memory{a.controller.Idle(), clock.System{}, debug.FreeOSMemory}.run(ctx)
		return nil
	})
	works.Go(func() error { return a.repos.run(ctx) })
	works.Go(func() error { return a.trigger.Run(ctx) })
	works.Go(func() error { a.awaitPlugins(ctx); return nil })
	works.Go(func() error { return a.previews.Run(ctx) })
	works.Go(func() error { return a.live.Run(ctx) })
	works.Go(func() error { return a.watcher.Run(ctx) })
	works.Go(func() error { return a.metrics.Run(ctx, a.client) })
	events := eventwatcher.New(eventwatcher.Options{
		ControlPlane: a.client, Repositories: a.repos.all(), Config: a.options.Config.EventWatcher,
		Name: a.options.Config.Git.Username, Email: a.options.Config.Git.Email, Handled: a.metrics.EventHandled,
		Passed: a.eventsPassed, Logger: a.logger,
	})
	works.Go(func() error { return events.Run(ctx) })
	works.Go(func() error {
		f := &feed{
			controlPlane: a.client, watcher: a.watcher, controller: a.controller, commands: a.commands,
			trigger: a.trigger, previews: a.previews, live: a.live, events: events, plugins: a.plugins,
			logger: a.logger, restart: stop,
			listed: a.listed,
		}
		return f.Run(ctx)
	})
	return works.Wait()
}

func (a *Agent) close() {
	if err := a.tracer.Close(); err != nil {
		a.logger.Debug("the last traces did not get through", "error", err)
	}
	if a.service != nil {
		a.service.Close()
	}
	if a.admin != nil {
		a.admin.listener.Close() // a second time after Run, which does no harm
	}
	if a.client != nil {
		a.client.Close()
	}
	if a.spool != nil {
		a.spool.Close()
	}
	if a.repos != nil {
		if err := a.repos.close(); err != nil {
			a.logger.Warn("checked-out sources could not be removed", "error", err)
		}
	}
	if a.unlock != nil {
		a.unlock()
	}
}
