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

	"golang.org/x/sync/errgroup"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/failpoint"
	"github.com/pipedeck/pipedeck/piped/fault"
	"github.com/pipedeck/pipedeck/piped/health"
	"github.com/pipedeck/pipedeck/piped/observe"
	"github.com/pipedeck/pipedeck/piped/plugincalls"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/piped/source"
	"github.com/pipedeck/pipedeck/piped/workdir"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// Options of an Agent.
type Options struct {
	Config *config.Piped
	// Version is what the control plane and /version show; LauncherVersion is a label of metrics.
	Version, LauncherVersion string
	// WorkDir holds mirrors, sources and plugin binaries. One process may use a WorkDir at a time.
	WorkDir      string
	ControlPlane ControlPlaneOptions
	Admin        AdminOptions
	Plugins      PluginOptions
	// NoMetrics measures nothing: /metrics is empty, and so is what the control plane gets.
	NoMetrics bool
	// Failpoints are for tests; nil for none.
	Failpoints *failpoint.Set
	// Faults are those that a user wants to see; nil for none.
	Faults *fault.Set
	// NoPluginCalls remembers no calls between piped and its plugins, to measure what that costs.
	NoPluginCalls bool
	// Breakpoints are those of this piped, besides those of the control plane.
	Breakpoints []*agentv1.Breakpoint
	Logger      *slog.Logger
}

// Agent is a whole piped.
type Agent struct {
	options   Options
	logger    *slog.Logger
	masker    *secrets.Masker
	decrypter secrets.Decrypter
	unlock    func()

	problems  *problems
	readiness *readiness
	observed  *observation
	upstream  *upstream
	repos     *repositories
	service   *pluginservice.Server
	admin     *admin
	plugins   *pluginhost.Host
	// pluginCalls are the last calls between piped and its plugins.
	pluginCalls *plugincalls.Log
	work        *work
}

// New opens what can be opened without waiting: directories, ports, mirrors. Run must follow, it closes
// them.
func New(options Options) (_ *Agent, err error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Faults == nil {
		options.Faults = fault.New() // users add some
	}
	masker := secrets.NewMasker()
	a := &Agent{
		options: options, logger: masking(options.Logger, masker), masker: masker, problems: newProblems(),
		pluginCalls: plugincalls.New(plugincalls.Options{Plugins: len(options.Config.Plugins), Mask: masker.Mask,
			Off: options.NoPluginCalls}),
	}
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
		updated: a.observed.metrics.RepositoryUpdated, watched: a.problems.watched, damaged: a.problems.mirrorDamaged,
	})
	if err != nil {
		return nil, err
	}
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
	commands := pluginservice.NewCommands()
	sources := source.NewSources(a.repos.store, a.repos.byID, a.upstream.tracer)
	heads := source.NewHeads(sources.Head)
	registry.Idle = heads.Return
	a.service, err = pluginservice.Listen(pluginservice.Options{
		Port: a.options.Plugins.ServicePort, ControlPlane: a.upstream.client, Registry: registry, Commands: commands,
		Calls: a.pluginCalls, Faults: a.options.Faults, Guarded: true, ToolsDir: a.options.Plugins.ToolsDir,
		Answers: answers(a.upstream.client, sources.InGit, heads.Lend), Logger: a.logger,
	})
	if err != nil {
		return err
	}
	if a.admin, err = listenAdmin(a.options.Admin, a.options.Version, a.readiness.answer,
		a.observed.metrics.Handler()); err != nil {
		return err
	}
	checks := newPluginOptions(a.options.Config, a.logger)
	if a.plugins, err = a.hostPlugins(checks); err != nil {
		return err
	}
	a.work = a.newWork(registry, commands, sources, checks)
	a.problems.watch(a.plugins.Problems, health.Disk(a.options.WorkDir, health.MinFree), health.Descriptors,
		a.upstream.problems, a.observed.problems)
	return nil
}

// hostPlugins creates the host of the plugins; nothing starts before it is run.
func (a *Agent) hostPlugins(checks *pluginOptions) (*pluginhost.Host, error) {
	options := a.options.Plugins
	binaries := fetch.BinaryDir(a.options.WorkDir)
	if options.Refetch {
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
		ServiceAddress: a.service.Address(), Service: a.service,
		StartTimeout: options.StartTimeout, GracePeriod: options.GracePeriod, HangTimeout: options.HangTimeout,
		NoReload: options.NoReload, Logger: a.logger, Reattaching: pluginhost.Reattaching{
			Reattach: options.Reattach, ReattachFile: options.ReattachFile,
		},
		Output: pluginhost.Output{
			LogDir: cmp.Or(options.LogDir, filepath.Join(a.options.WorkDir, "plugin-logs")),
			Echo:   options.LogDir == "", Mask: a.maskLine, ExitDir: filepath.Join(a.options.WorkDir, "plugin-exits"),
		},
		Observer: pluginhost.Observer{
			Calls: a.calls, Started: a.upstream.tracer.PluginStarted, Described: checks.described,
		},
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
	// Plugins call until their processes have ended.
	serving, stopServing := context.WithCancel(context.WithoutCancel(base))
	defer stopServing()
	ground.Go(func() error { return a.service.Run(serving) })
	ground.Go(func() error { return a.admin.Run(base) })
	ground.Go(func() error {
		defer stopServing()
		defer context.AfterFunc(base, a.service.Leave)()
		return a.plugins.Run(base)
	})
	ground.Go(func() error { return a.observed.notifier.Run(base) })
	unlink := context.AfterFunc(base, func() { stop(nil) }) // a part of the ground has failed
	defer unlink()
	a.logger.Info("piped started", "version", a.options.Version, "work_dir", a.options.WorkDir,
		"plugin_service", a.service.Address(), "admin", a.admin.listener.Addr())

	err := a.deploy(ctx, base, stop, ground)
	if err == nil && ctx.Err() != nil {
		a.logger.Info("piped is stopping; running deployments go on at the next start", "reason", context.Cause(ctx))
	}
	if a.readiness.accepted.Load() {
		a.observed.notify(observe.PipedStopped)
	}
	stopBase()
	return a.masker.Error(errors.Join(err, ground.Wait()))
}

// deploy introduces piped, and runs what deploys once the control plane has accepted this piped.
func (a *Agent) deploy(ctx, base context.Context, stop context.CancelCauseFunc, ground *errgroup.Group) error {
	client := a.upstream.client
	introduction := introduction{client, a.options.Config, a.decrypter, a.options.Version, clock.System{}, a.logger}
	if err := introduction.send(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	a.readiness.accepted.Store(true)
	a.observed.notify(observe.PipedStarted)
	ground.Go(func() error { return a.upstream.spool.Run(base, client) })
	ground.Go(func() error { return a.problems.follow(base, a.plugins) })
	ground.Go(func() error {
		return health.NewReporter(a.problems.registry, agentv1.AgentServiceClient(client), clock.System{},
			a.logger).Run(base)
	})
	ground.Go(func() error {
		return pluginhost.NewReporter(a.plugins, agentv1.AgentServiceClient(client), a.logger).Run(base)
	})
	return a.work.Run(ctx, stop)
}

func (a *Agent) close() {
	if a.service != nil {
		a.service.Close()
	}
	if a.admin != nil {
		a.admin.listener.Close() // a second time after Run, which does no harm
	}
	if a.upstream != nil {
		a.upstream.close(a.logger)
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
