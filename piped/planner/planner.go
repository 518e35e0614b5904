// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/removal"
	"github.com/pipedeck/pipedeck/piped/source"
	"github.com/pipedeck/pipedeck/piped/tracing"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// pluginTimeout bounds all calls to plugins for one plan.
	pluginTimeout = 2 * time.Minute
	// defaultTimeout bounds a plan, with all that is tried again.
	defaultTimeout = 5 * time.Minute
	// restartWait is how long a plan waits for a plugin that is being started again.
	restartWait = 20 * time.Second
)

// Sources prepares what plugins get of an application at a commit.
type Sources interface {
	// Prepare returns a source with a directory. The caller closes it.
	Prepare(ctx context.Context, wanted source.Wanted) (*source.Source, error)
	// Describe returns a source without a directory. The caller closes it.
	Describe(ctx context.Context, wanted source.Wanted) (*source.Source, error)
	// LeftOut lists what Git itself does not hold of the application's directory at a commit.
	LeftOut(ctx context.Context, d *model.Deployment, commit string) ([]string, error)
}

// Plugins finds plugins, and waits for those in their first start.
type Plugins interface {
	// Owner returns the plugin that owns a stage.
	Owner(ctx context.Context, stage string) (*pluginhost.Plugin, error)
	// Named returns the named plugins in the order of the piped configuration.
	Named(ctx context.Context, names ...string) ([]*pluginhost.Plugin, error)
	// HeldTime is how long debuggers have held plugins in all so far.
	HeldTime() time.Duration
}

// ControlPlane knows the last deployments, and gets the plans.
type ControlPlane interface {
	GetApplicationMostRecentDeployment(
		ctx context.Context, r *pipedservice.GetApplicationMostRecentDeploymentRequest, opts ...grpc.CallOption,
	) (*pipedservice.GetApplicationMostRecentDeploymentResponse, error)
	ReportDeploymentPlanned(
		ctx context.Context, r *pipedservice.ReportDeploymentPlannedRequest, opts ...grpc.CallOption,
	) (*pipedservice.ReportDeploymentPlannedResponse, error)
}

var (
	_ Sources = (*source.Sources)(nil)
	_ Plugins = (*pluginhost.Host)(nil)
)

// Options of a Planner.
type Options struct {
	Plugins      Plugins
	ControlPlane ControlPlane
	Sources      Sources
	// Options returns what is wrong in those parts of a deployment's configuration that plugins own. The deployment
	// goes on: the log shows it. It is also called when the plan fails by a plugin that is not there. It may be nil.
	Options func(d *model.Deployment, configuration []byte, filename string) config.Errors
	Logger  *slog.Logger
	// Timeout bounds a plan, with all that is tried again. Default 5 min.
	Timeout time.Duration
	// Tracer records the planning; nil for none.
	Tracer *tracing.Tracer
	// Waits gets the plugin that the plan of a deployment has waited for longer than 5 s, and the zero value when that
	// is over; nil for no one.
	Waits func(ctx context.Context, deploymentID string, wait Wait)
	// Clock is what waits are measured by; the system's by default.
	Clock clock.Clock
}

// Planner plans deployments; it keeps no state.
type Planner struct {
	options Options
}

// New creates a Planner.
func New(options Options) *Planner {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Timeout <= 0 {
		options.Timeout = defaultTimeout
	}
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	return &Planner{options: options}
}

// Plan works out the plan of a pending deployment, reports it and returns the deployment with it. The
// given deployment is not changed. An error says why there is no plan; nothing was reported then.
func (p *Planner) Plan(ctx context.Context, pending *model.Deployment) (*model.Deployment, error) {
	ctx, end := p.options.Tracer.Plan(ctx, pending)
	planned, err := p.planAndReport(ctx, pending)
	err = plain(err)
	end(planned, err)
	return planned, err
}

func (p *Planner) planAndReport(ctx context.Context, pending *model.Deployment) (*model.Deployment, error) {
	planned, err := p.planWatched(ctx, pending)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, err
	}
	_, err = p.options.ControlPlane.ReportDeploymentPlanned(ctx, &pipedservice.ReportDeploymentPlannedRequest{
		DeploymentId:              planned.GetId(),
		Summary:                   planned.GetSummary(),
		StatusReason:              planned.GetStatusReason(),
		RunningCommitHash:         planned.GetRunningCommitHash(),
		RunningConfigFilename:     planned.GetRunningConfigFilename(),
		Versions:                  planned.GetVersions(),
		Stages:                    planned.GetStages(),
		SyncStrategy:              planned.GetTrigger().GetSyncStrategy(),
		DeploymentChainId:         planned.GetDeploymentChainId(),
		DeploymentChainBlockIndex: planned.GetDeploymentChainBlockIndex(),
	})
	if err != nil {
		return nil, fmt.Errorf("report the plan to the control plane: %w", err)
	}
	p.options.Logger.Info(
		"deployment planned",
		"deployment",
		planned.GetId(),
		"application",
		planned.GetApplicationName(),
		"strategy",
		planned.GetTrigger().GetSyncStrategy(),
		"summary",
		planned.GetSummary(),
		"stages",
		len(
			planned.GetStages(),
		),
	)
	return planned, nil
}

// planWatched reports meanwhile which plugin it waits for.
func (p *Planner) planWatched(ctx context.Context, pending *model.Deployment) (*model.Deployment, error) {
	if p.options.Waits == nil {
		return p.planInTime(ctx, pending)
	}
	watched, stop := watch(ctx, p.options.Clock, func(wait Wait) { p.options.Waits(ctx, pending.GetId(), wait) })
	defer stop()
	return p.planInTime(watched, pending)
}

// plan is one attempt. It reports its current step, in words that follow "while".
func (p *Planner) plan(ctx context.Context, pending *model.Deployment, at func(string)) (*model.Deployment, error) {
	d := proto.CloneOf(pending)
	if removal.Is(d) {
		return p.planRemoval(ctx, d, at)
	}
	at("asking the control plane for the last successful deployment")
	running, err := p.running(ctx, d.GetApplicationId())
	if err != nil {
		return nil, err
	}
	at("reading the application configuration and waiting for its plugins")
	application, plugins, err := p.participants(ctx, d)
	if err != nil {
		return nil, err
	}
	at("preparing the sources")
	sources, err := p.prepare(ctx, d, running, sourceUseOf(application, plugins))
	if err != nil {
		return nil, err
	}
	defer sources.close()
	if sources.running != nil {
		d.RunningCommitHash = running.GetTrigger().GetCommit().GetHash()
		d.RunningConfigFilename = running.GetConfigFilename()
	}

	at("asking the plugins for the versions")
	versions, left, err := p.versions(ctx, plugins, d, sources)
	if err != nil {
		return nil, interruption(err)
	}
	d.Versions = versions
	at("asking the plugins for the strategy")
	choice, err := p.chooseStrategy(ctx, d, application, plugins, sources)
	if err != nil {
		return nil, interruption(err)
	}
	at("asking the plugins for the stages")
	stages, choice, err := buildStages(ctx, plugins, application, choice)
	if err != nil {
		return nil, interruption(err)
	}
	d.Stages = stages
	d.Summary = choice.summary + sources.note + left + p.leftOut(ctx, d)
	d.Trigger.SyncStrategy = choice.strategy
	d.Status = model.DeploymentStatus_DEPLOYMENT_PLANNED
	d.StatusReason = "Planned"
	return d, nil
}

// running is the last successful deployment of the application, nil before the first.
func (p *Planner) running(ctx context.Context, application string) (*model.ApplicationDeploymentReference, error) {
	response, err := p.options.ControlPlane.GetApplicationMostRecentDeployment(
		ctx,
		&pipedservice.GetApplicationMostRecentDeploymentRequest{
			ApplicationId: application, Status: model.DeploymentStatus_DEPLOYMENT_SUCCESS,
		},
	)
	switch {
	case status.Code(err) == codes.NotFound:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("ask the control plane for the last successful deployment: %w", err)
	}
	return response.GetDeployment(), nil
}

// participants reads the application and waits until its plugins run.
func (p *Planner) participants(
	ctx context.Context, d *model.Deployment,
) (*config.Application, []applicationPlugin, error) {
	described, err := p.options.Sources.Describe(
		ctx, source.Wanted{Deployment: d, Commit: d.GetTrigger().GetCommit().GetHash()},
	)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = described.Close() }() // a directory left behind is removed at the next start
	ctx, cancel := clock.WithHeldTimeout(ctx, clock.System{}, pluginTimeout, p.options.Plugins.HeldTime,
		fmt.Errorf("the plugins were not there within %s", pluginTimeout))
	defer cancel()
	plugins, err := p.runningPlugins(ctx, described.Application())
	p.warn(d, described.Proto()) // also without the plugins: what an earlier plan found is not true any more
	return described.Application(), plugins, err
}

// runningPlugins returns the plugins of an application once all of them run.
func (p *Planner) runningPlugins(ctx context.Context, application *config.Application) ([]applicationPlugin, error) {
	plugins, err := p.applicationPlugins(ctx, application)
	if err != nil {
		return nil, err
	}
	for _, plugin := range plugins {
		if err := waitRunning(ctx, plugin.Plugin); err != nil {
			return nil, err
		}
	}
	return plugins, nil
}

// warn logs options that are wrong, or that no plugin reads: PipeCD ignores them in silence.
func (p *Planner) warn(d *model.Deployment, of *common.DeploymentSource) {
	if p.options.Options == nil {
		return
	}
	name := path.Join(d.GetGitPath().GetPath(), of.GetApplicationConfigFilename())
	for _, mistake := range p.options.Options(d, of.GetApplicationConfig(), name) {
		p.options.Logger.Warn("application configuration has an option that is wrong or not read",
			"deployment", d.GetId(), "application", d.GetApplicationName(), "problem", mistake)
	}
}

// sourceUseOf is what any of the plugins inspects. Secrets and attachments are filled in for none of them as well: a
// mistake there ends the deployment before anything is done.
func sourceUseOf(application *config.Application, plugins []applicationPlugin) deployment.SourceUse {
	use := deployment.SourceUse_SOURCE_USE_NONE
	if application.Encryption != nil || application.Attachment != nil {
		use = deployment.SourceUse_SOURCE_USE_TARGET
	}
	for _, plugin := range plugins {
		use = min(use, plugin.PlanningSources()) // the values are in order, the most first
	}
	return use
}

// sources are the application's directories at the target commit and, from the second deployment on, at
// the running one.
type sources struct {
	target, running *source.Source
	// note says in the summary why there is no running source although something runs.
	note string
}

func (s *sources) close() {
	for _, one := range []*source.Source{s.target, s.running} {
		if one != nil {
			_ = one.Close() // a directory left behind is removed at the next start
		}
	}
}

func (s *sources) runningProto() *common.DeploymentSource {
	if s.running == nil {
		return nil
	}
	return s.running.Proto()
}

func (p *Planner) prepare(
	ctx context.Context, d *model.Deployment, running *model.ApplicationDeploymentReference, use deployment.SourceUse,
) (*sources, error) {
	ofTarget, ofRunning := p.options.Sources.Prepare, p.options.Sources.Prepare
	switch use {
	case deployment.SourceUse_SOURCE_USE_NONE:
		ofTarget, ofRunning = p.options.Sources.Describe, p.options.Sources.Describe
	case deployment.SourceUse_SOURCE_USE_TARGET:
		ofRunning = p.options.Sources.Describe
	}
	type result struct {
		source *source.Source
		err    error
	}
	before := make(chan result, 1)
	commit := running.GetTrigger().GetCommit().GetHash()
	if commit == "" {
		before <- result{}
	} else {
		go func() {
			source, err := ofRunning(
				ctx, source.Wanted{Deployment: d, Commit: commit, ConfigFilename: running.GetConfigFilename()},
			)
			before <- result{source, err}
		}()
	}
	target, err := ofTarget(ctx, source.Wanted{Deployment: d, Commit: d.GetTrigger().GetCommit().GetHash()})
	was := <-before
	all := &sources{}
	if err == nil {
		all.target = target
	}
	if was.err == nil && was.source != nil {
		all.running = was.source
	}
	if err != nil {
		all.close()
		return nil, err
	}
	if was.err != nil {
		// A rewritten branch or a file that was broken then must not block all deployments from now on.
		p.options.Logger.Warn("the running commit cannot be prepared, the deployment is planned as if it was the first",
			"deployment", d.GetId(), "commit", commit, "error", was.err)
		all.note = fmt.Sprintf(" (planned without the running commit %.7s: %v)", commit, was.err)
	}
	return all, nil
}

func waitRunning(ctx context.Context, plugin *pluginhost.Plugin) error {
	ctx, cancel := clock.WithHeldTimeout(ctx, clock.System{}, restartWait, plugin.HeldTime, context.DeadlineExceeded)
	defer cancel()
	return plugin.WaitRunning(ctx)
}

var errNoPlugin = errors.New("no plugin is specified: name one under spec.plugins or give a pipeline")
