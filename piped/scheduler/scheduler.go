// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/clock"
	"github.com/pipedeck/pipedeck/piped/failpoint"
	"github.com/pipedeck/pipedeck/piped/tracing"
)

const (
	// defaultRestartWait is how long a stage waits for its plugin to be started again.
	defaultRestartWait = 20 * time.Second
	// reportTimeout bounds one report to the control plane; reports go on when piped is stopping.
	reportTimeout = 30 * time.Second
	// defaultCleanupWait is longer than what a plugin gives the script of a cancelled stage.
	defaultCleanupWait = 15 * time.Second
	// defaultLastChance is enough to see an approval, and short beside the timeouts that people set.
	defaultLastChance = 30 * time.Second
	// defaultParallel is enough for pipelines that people draw; each stage has checkouts of its own.
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
	// Clock is for the pauses between tries. Default: the system's.
	Clock clock.Timer
	// Tracer records the deployments; nil for none.
	Tracer *tracing.Tracer
	// Failpoints are for tests; nil for none.
	Failpoints *failpoint.Set
}

// Scheduler runs planned deployments.
type Scheduler struct {
	options Options
}

// New makes a Scheduler.
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
	// Begun tells that a stage was begun, RolledBack that the rollback was run.
	Begun, RolledBack bool
}

// Run brings a planned deployment to its end and reports every step. When ctx ends it stops at once,
// reports nothing and returns the cause; cancellation stops the present stages and starts the rollback.
func (s *Scheduler) Run(ctx context.Context, planned *model.Deployment, cancellation *Cancellation) (Outcome, error) {
	r := &run{Scheduler: s, deployment: proto.CloneOf(planned), cancellation: cancellation, own: clockOf(planned, time.Now()), clocks: map[string]startTimes{}}
	r.sources = newSourceQueue(s.options.Sources, r.deployment)
	defer r.sources.close()
	return r.traced(ctx)
}

// run is one deployment on its way.
type run struct {
	*Scheduler
	mu           sync.Mutex        // guards what changes in the deployment while stages run
	deployment   *model.Deployment // a copy of its own
	cancellation *Cancellation
	sources      *sourceQueue
	own          startTimes            // of the deployment
	clocks       map[string]startTimes // of the stages that were begun, by id; guarded by mu
	// limit sets the deployment's timeout, once the configuration that names it has been read. Only its
	// first call counts.
	limit func(time.Duration)
}

func (r *run) toEnd(ctx context.Context) (Outcome, error) {
	rollingBack := r.deployment.GetStatus() == model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK
	var outcome Outcome
	if rollingBack {
		outcome = r.interruptedOutcome()
	} else {
		r.prefetch(ctx)
		if r.deployment.GetStatus() != model.DeploymentStatus_DEPLOYMENT_RUNNING {
			r.setStatus(ctx, model.DeploymentStatus_DEPLOYMENT_RUNNING, "The stages are running")
		}
		var err error
		if outcome, err = r.forward(ctx); err != nil {
			return Outcome{}, err
		}
	}
	outcome.Begun = r.begunAny()
	if rollingBack || outcome.Status != model.DeploymentStatus_DEPLOYMENT_SUCCESS && r.wantsRollback(outcome) {
		if !rollingBack {
			r.setStatus(ctx, model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK, outcome.Reason)
		}
		if err := r.rollBack(ctx); err != nil {
			return Outcome{}, err
		}
		outcome.RolledBack = true
	}
	return outcome, r.complete(ctx, outcome)
}

// forward runs the normal stages. After a restart, those that succeeded or were skipped are passed and
// those that ran are run again (PipeCD v1).
func (r *run) forward(ctx context.Context) (Outcome, error) {
	work, stop := r.workContext(ctx)
	defer stop()
	w := r.walk(r.normalStages())
	if err := w.toEnd(ctx, work); err != nil {
		return Outcome{}, err
	}
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	left := w.left()
	var cancelled *CancelledError
	switch {
	case w.failed != nil:
		return failedStage(w.failed), nil
	case errors.As(context.Cause(work), &cancelled):
		// Also when all stages succeeded, or one ended the deployment: the command came first.
		return interruption(work, w.interrupted), nil
	case w.stoppedAny(), work.Err() != nil && w.exited == nil && len(left) > 0:
		return interruption(work, w.interrupted), nil
	case w.exited != nil:
		return success("The deployment was completed since stage " + w.exited.GetName() + " asked for it"), nil
	case len(left) > 0:
		return Outcome{Status: model.DeploymentStatus_DEPLOYMENT_FAILURE, Reason: "The " + names(left) + " can never start, because they require each other"}, nil
	default:
		return success("All stages succeeded"), nil
	}
}

// normalStages gives the stages of a quick sync that another piped planned the order that PipeCD v1 runs
// them in: it plans them without requirements.
func (r *run) normalStages() []*model.PipelineStage {
	var normal []*model.PipelineStage
	connected := r.deployment.GetTrigger().GetSyncStrategy() != model.SyncStrategy_QUICK_SYNC
	for _, stage := range r.deployment.GetStages() {
		if !stage.GetRollback() {
			normal = append(normal, stage)
			connected = connected || len(stage.GetRequires()) > 0
		}
	}
	for i := 1; i < len(normal) && !connected; i++ {
		normal[i].Requires = []string{normal[i-1].GetId()}
	}
	return normal
}

// workContext ends with ctx, with a cancellation and with the timeout of the deployment; its cause says
// which.
func (r *run) workContext(ctx context.Context) (context.Context, func()) {
	work, cancel := context.WithCancelCause(ctx)
	unwatch := r.cancellation.onCancel(func(by *CancelledError) { cancel(by) })
	var once sync.Once
	stopTimer := func() bool { return true }
	r.limit = func(after time.Duration) {
		once.Do(func() {
			timer := time.AfterFunc(r.own.left(after, r.options.LastChance, time.Now()), func() { cancel(&TimeoutError{What: "the deployment", After: after}) })
			stopTimer = timer.Stop
		})
	}
	return work, func() {
		stopTimer()
		unwatch()
		cancel(context.Canceled)
	}
}
