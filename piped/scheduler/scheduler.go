// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"log/slog"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/breakpoint"
	"github.com/pipedeck/pipedeck/piped/failpoint"
	"github.com/pipedeck/pipedeck/piped/fault"
	"github.com/pipedeck/pipedeck/piped/tracing"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// defaultRestartWait is how long a stage waits for its plugin to be started again.
	defaultRestartWait = 20 * time.Second
	// reportTimeout bounds one report to the control plane; reports go on when piped is stopping.
	reportTimeout = 30 * time.Second
	// defaultCleanupWait is longer than what a plugin gives the script of a cancelled stage.
	defaultCleanupWait = 15 * time.Second
	// defaultLastChance is enough to see an approval, and short next to the timeouts that people set.
	defaultLastChance = 30 * time.Second
	// defaultParallel is enough for pipelines that people draw; each stage has its own checkouts.
	defaultParallel = 8
)

// Options of a Scheduler. Stages and Metadata are usually one *pluginservice.Registry.
type Options struct {
	Plugins      Plugins
	ControlPlane pipedservice.PipedServiceClient
	Stages       Stages
	Metadata     Metadata
	Commands     StageCommands
	Sources      Sources
	Logger       *slog.Logger
	// Announce returns what the control plane learns about the run of a stage, without secrets; nil for nothing. A nil
	// Announce announces nothing.
	Announce func(*agentv1.StageRun) *agentv1.StageRun
	// RestartWait is how long a stage waits for its plugin to be started again. Default 20 s.
	RestartWait time.Duration
	// CleanupWait is how long a stage that was cancelled may take to complete its log. Default 15 s.
	CleanupWait time.Duration
	// LastChance is what a stage and a deployment get whose time ran out while no piped was there. Default 30 s.
	LastChance time.Duration
	// Parallel bounds the stages of one deployment that run at the same time. Default 8.
	Parallel int
	// ReportPause is the pause after a report of a stage that did not get through. Default 1 s.
	ReportPause time.Duration
	// Clock is for all waits but those for an answer to a call. Default: the system's.
	Clock clock.Clock
	// Tracer records the deployments; nil for none.
	Tracer *tracing.Tracer
	// Failpoints are for tests; nil for none.
	Failpoints *failpoint.Set
	// Faults are those that a user wants; nil for none.
	Faults *fault.Set
	// Pauses are where a user wants stages to pause.
	Pauses PauseOptions
}

// PauseOptions say where stages pause. The zero value is for nowhere.
type PauseOptions struct {
	// Breakpoints may be nil for none.
	Breakpoints *breakpoint.Set
	// Check says what is wrong with options that a user gives a stage of that type; nil to take all.
	Check func(stage string, options []byte) error
}

// Scheduler runs planned deployments.
type Scheduler struct {
	options Options
}

// New returns a Scheduler.
func New(options Options) *Scheduler {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.RestartWait <= 0 {
		options.RestartWait = defaultRestartWait
	}
	if options.CleanupWait <= 0 {
		options.CleanupWait = defaultCleanupWait
	}
	if options.LastChance <= 0 {
		options.LastChance = defaultLastChance
	}
	if options.Parallel <= 0 {
		options.Parallel = defaultParallel
	}
	if options.ReportPause <= 0 {
		options.ReportPause = time.Second
	}
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	return &Scheduler{options: options}
}

// Outcome is how a deployment ended.
type Outcome struct {
	// Status is SUCCESS, FAILURE or CANCELLED.
	Status model.DeploymentStatus
	Reason string
	// Begun is set when a stage was begun, RolledBack when the rollback was run, RollbackStopped when a user has stopped
	// it.
	Begun, RolledBack, RollbackStopped bool
}

// Run brings a planned deployment to its end and reports every step. When ctx ends it stops at once,
// reports nothing and returns the cause; cancellation stops the present stages and starts the rollback.
func (s *Scheduler) Run(ctx context.Context, planned *model.Deployment, cancellation *Cancellation) (Outcome, error) {
	r := s.newRun(planned, cancellation)
	defer r.executor.sources.close()
	ctx, end := s.options.Tracer.Deploy(ctx, r.progress.deployment)
	outcome, err := r.deploy(ctx)
	end(outcome.Status, outcome.Reason, err)
	return outcome, err
}

func (s *Scheduler) reports(p *progress) *reports {
	o := s.options
	return &reports{
		controlPlane: o.ControlPlane, commands: o.Commands, logger: o.Logger, clock: o.Clock, pause: o.ReportPause,
		failpoints: o.Failpoints, progress: p,
	}
}

func (s *Scheduler) newRun(planned *model.Deployment, cancellation *Cancellation) *run {
	o, p := s.options, newProgress(planned)
	reports, now := s.reports(p), o.Clock.Now()
	held := &pauses{options: &s.options, progress: p, reports: reports, cancellation: cancellation}
	times := timesOf(planned, now)
	times.first = times.first.Add(heldEarlier(planned, now))
	r := &run{
		progress: p, reports: reports, cancellation: cancellation, parallel: o.Parallel,
		budget: newBudget(times, o.LastChance, o.Clock, func() time.Duration {
			return o.Plugins.HeldTime() + held.heldTime()
		}),
		rollback: &rollback{progress: p, plugins: o.Plugins, wait: o.RestartWait, clock: o.Clock},
	}
	r.executor = &executor{
		options: &s.options, progress: p, reports: r.reports, sources: newSourceQueue(o.Sources, p.deployment),
		budget: r.budget, cancellation: cancellation, pauses: held,
	}
	return r
}

// run is one deployment on its way.
type run struct {
	progress     *progress
	reports      *reports
	cancellation *Cancellation
	budget       *budget
	executor     *executor
	rollback     *rollback
	// parallel bounds the stages that run at the same time.
	parallel int
}

// deploy runs the stages and, if that is due, those of the rollback, and reports the end.
func (r *run) deploy(ctx context.Context) (Outcome, error) {
	d := r.progress.deployment
	rollingBack := d.GetStatus() == model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK
	var outcome Outcome
	if rollingBack {
		outcome = interruptedOutcome(d)
	} else {
		r.executor.prefetch(ctx)
		if d.GetStatus() != model.DeploymentStatus_DEPLOYMENT_RUNNING {
			r.reports.setStatus(ctx, model.DeploymentStatus_DEPLOYMENT_RUNNING, "The stages are running")
		}
		var err error
		if outcome, err = r.forward(ctx); err != nil {
			return Outcome{}, err
		}
	}
	r.cancellation.waits(false)
	if outcome.Status == model.DeploymentStatus_DEPLOYMENT_CANCELLED {
		r.reports.saveCancellation(ctx, r.cancellation.by())
	}
	outcome.Begun = r.progress.begunAny()
	if rollingBack || r.rollsBack(outcome) {
		if !rollingBack {
			r.reports.setStatus(ctx, model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK, outcome.Reason)
		}
		if err := r.rollBack(ctx, &outcome); err != nil {
			return Outcome{}, err
		}
		outcome.Reason += failedRollback(d.GetStages(), outcome.Reason)
	}
	return outcome, r.reports.complete(ctx, outcome)
}

func (r *run) rollsBack(outcome Outcome) bool {
	d := r.progress.deployment
	return outcome.Status != model.DeploymentStatus_DEPLOYMENT_SUCCESS && outcome.Begun &&
		rollbackWanted(d.GetStages(), choiceOf(r.cancellation, d))
}

// forward runs the normal stages. After a restart, those that succeeded or were skipped are passed and
// those that ran are run again (PipeCD v1).
func (r *run) forward(ctx context.Context) (Outcome, error) {
	work, stop := r.budget.begin(ctx, r.cancellation)
	defer stop()
	w := r.walk(r.progress.normalStages())
	if err := w.runStages(ctx, work); err != nil {
		return Outcome{}, err
	}
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	return w.outcome(work), nil
}

// rollBack runs all rollback stages; a failing one does not stop the others (PipeCD v1). A user who cancels the
// deployment without a rollback stops them. (Nothing stops them in PipeCD v1.)
func (r *run) rollBack(ctx context.Context, outcome *Outcome) error {
	w := r.walk(r.rollback.stages(ctx))
	w.whatever = true
	work, stop := context.WithCancelCause(ctx)
	defer stop(context.Canceled)
	defer r.cancellation.onNoRollback(func(by *CancelledError) { stop(by) })()
	err := w.runStages(ctx, work)
	outcome.RolledBack, outcome.RollbackStopped = true, work.Err() != nil
	return err
}

func (r *run) walk(stages []*model.PipelineStage) *walk {
	return &walk{
		executor: r.executor, reports: r.reports, cancellation: r.cancellation, parallel: r.parallel, stages: stages,
		begun: map[string]bool{}, reported: map[string]bool{}, ends: make(chan stageEnd),
	}
}
