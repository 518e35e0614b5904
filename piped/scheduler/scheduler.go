// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
)

const (
	// defaultRestartWait is how long a stage waits for its plugin to be started again.
	defaultRestartWait = 20 * time.Second
	// reportTimeout bounds one report to the control plane; reports go on when piped is stopping.
	reportTimeout = 30 * time.Second
)

// ChangedFiles lists the files that differ between two commits of a deployment's repository, relative to
// the repository root.
type ChangedFiles func(ctx context.Context, d *model.Deployment, from, to string) ([]string, error)

// Options of a Scheduler.
type Options struct {
	Plugins      *pluginhost.Host
	ControlPlane pipedservice.PipedServiceClient
	Registry     *pluginservice.Registry
	Commands     *pluginservice.Commands
	Prepare      planner.Prepare
	ChangedFiles ChangedFiles
	Logger       *slog.Logger
	// RestartWait is how long a stage waits for its plugin to be started again. Default 20 s.
	RestartWait time.Duration
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
	return &Scheduler{options: options}
}

// Outcome is how a deployment ended.
type Outcome struct {
	// Status is SUCCESS, FAILURE or CANCELLED.
	Status model.DeploymentStatus
	Reason string
}

// Run brings a planned deployment to its end and reports every step. When ctx ends it stops at once,
// reports nothing and returns the cause; cancellation stops the present stage and starts the rollback.
func (s *Scheduler) Run(ctx context.Context, planned *model.Deployment, cancellation *Cancellation) (Outcome, error) {
	r := &run{Scheduler: s, deployment: proto.CloneOf(planned), cancellation: cancellation}
	r.sources = newSourceQueue(s.options.Prepare, r.deployment)
	defer r.sources.close()
	return r.toEnd(ctx)
}

// run is one deployment on its way.
type run struct {
	*Scheduler
	deployment   *model.Deployment // only this run's goroutine changes it
	cancellation *Cancellation
	sources      *sourceQueue
	// limit sets the deployment's timeout, once the configuration that names it has been read.
	limit func(time.Duration)
}

func (r *run) toEnd(ctx context.Context) (Outcome, error) {
	rollingBack := r.deployment.GetStatus() == model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK
	var outcome Outcome
	if rollingBack {
		outcome = r.interruptedOutcome()
	} else {
		r.sources.prefetch(ctx)
		if r.deployment.GetStatus() != model.DeploymentStatus_DEPLOYMENT_RUNNING {
			r.setStatus(ctx, model.DeploymentStatus_DEPLOYMENT_RUNNING, "The stages are running")
		}
		var err error
		if outcome, err = r.forward(ctx); err != nil {
			return Outcome{}, err
		}
	}
	if outcome.Status != model.DeploymentStatus_DEPLOYMENT_SUCCESS && r.wantsRollback() {
		if !rollingBack {
			r.setStatus(ctx, model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK, outcome.Reason)
		}
		if err := r.rollBack(ctx); err != nil {
			return Outcome{}, err
		}
	}
	return outcome, r.complete(ctx, outcome)
}

// forward runs the normal stages one after another. PipeCD v1: after a restart, stages that succeeded or
// were skipped are passed, one that failed decides the result, one that ran is run again.
func (r *run) forward(ctx context.Context) (Outcome, error) {
	work, stop := r.workContext(ctx)
	defer stop()
	for _, stage := range r.deployment.GetStages() {
		if stage.GetRollback() {
			continue
		}
		if !ended(stage) {
			if outcome, over := r.interruption(ctx, work, nil); over {
				return outcome, context.Cause(ctx)
			}
			if err := r.runStage(ctx, work, stage); err != nil {
				return Outcome{}, err
			}
		}
		switch stage.GetStatus() {
		case model.StageStatus_STAGE_SUCCESS, model.StageStatus_STAGE_SKIPPED:
			continue
		case model.StageStatus_STAGE_EXITED:
			return success("The deployment was completed since stage " + stage.GetName() + " asked for it"), nil
		default:
			if outcome, over := r.interruption(ctx, work, stage); over {
				return outcome, context.Cause(ctx)
			}
			return failedStage(stage), nil
		}
	}
	return success("All stages succeeded"), nil
}

// workContext ends with ctx, with a cancellation and with the timeout of the deployment; its cause says
// which.
func (r *run) workContext(ctx context.Context) (context.Context, func()) {
	work, cancel := context.WithCancelCause(ctx)
	unwatch := r.cancellation.onCancel(func(by *CancelledError) { cancel(by) })
	began := time.Now()
	stopTimer := func() bool { return true }
	r.limit = func(after time.Duration) {
		stopTimer()
		timer := time.AfterFunc(after-time.Since(began), func() { cancel(&TimeoutError{What: "the deployment", After: after}) })
		stopTimer = timer.Stop
	}
	return work, func() {
		stopTimer()
		unwatch()
		cancel(context.Canceled)
	}
}

// wantsRollback: there is something to undo, something to undo it with, and the user did not object.
func (r *run) wantsRollback() bool {
	started, can := false, false
	for _, stage := range r.deployment.GetStages() {
		if stage.GetRollback() {
			can = true
		} else if stage.GetStatus() != model.StageStatus_STAGE_NOT_STARTED_YET {
			started = true
		}
	}
	by := r.cancellation.by()
	return can && started && (by == nil || !by.NoRollback)
}

// rollBack runs all rollback stages; a failing one does not stop the others (PipeCD v1). A user cannot
// cancel them.
func (r *run) rollBack(ctx context.Context) error {
	last := r.lastExecuted()
	for _, stage := range r.deployment.GetStages() {
		if !stage.GetRollback() || ended(stage) {
			continue
		}
		if last != nil {
			stage.Requires = []string{last.GetId()}
		}
		if err := r.runStage(ctx, ctx, stage); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) lastExecuted() *model.PipelineStage {
	var last *model.PipelineStage
	for _, stage := range r.deployment.GetStages() {
		if !stage.GetRollback() && stage.GetStatus() != model.StageStatus_STAGE_NOT_STARTED_YET {
			last = stage
		}
	}
	return last
}

// interruptedOutcome is the outcome of a deployment that an earlier piped was rolling back.
func (r *run) interruptedOutcome() Outcome {
	outcome := Outcome{Status: model.DeploymentStatus_DEPLOYMENT_FAILURE, Reason: r.deployment.GetStatusReason()}
	for _, stage := range r.deployment.GetStages() {
		if !stage.GetRollback() && stage.GetStatus() == model.StageStatus_STAGE_CANCELLED {
			outcome.Status = model.DeploymentStatus_DEPLOYMENT_CANCELLED
		}
	}
	return outcome
}

func ended(stage *model.PipelineStage) bool {
	switch stage.GetStatus() {
	case model.StageStatus_STAGE_NOT_STARTED_YET, model.StageStatus_STAGE_RUNNING:
		return false
	default:
		return true
	}
}
