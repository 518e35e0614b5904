// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/redeploy"
	"github.com/pipedeck/pipedeck/piped/removal"
	"github.com/pipedeck/pipedeck/piped/supersede"
)

// chainRecheck is how often a blocked deployment of a chain asks again: PipeCD's control plane has no event
// for the end of a block. Ours reports that deployments have changed.
const chainRecheck = 10 * time.Second

// job is one deployment from whatever state it is in to its end.
type job struct {
	controller   *Controller
	deployment   *model.Deployment
	cancellation Cancellation
	commands     []*model.Command // guarded by controller.mu; reported at the end
	planError    error
	// before is the sync state that the application had before announce; nil when it is not known.
	before *model.ApplicationSyncState
	// over is closed when the controller has forgotten the job.
	over chan struct{}
}

// newJob returns the job of a deployment. One that an earlier piped was about to end, because a newer commit
// supersedes it, is ended.
func newJob(c *Controller, d *model.Deployment) *job {
	j := &job{controller: c, deployment: d, over: make(chan struct{})}
	j.cancellation.waits(d.GetStatus() == model.DeploymentStatus_DEPLOYMENT_PENDING ||
		d.GetStatus() == model.DeploymentStatus_DEPLOYMENT_PLANNED)
	if by := supersede.ByOf(d); by != (supersede.By{}) {
		j.cancellation.Cancel(&CancelledError{By: by})
	}
	return j
}

// run returns true when the deployment has ended, false when piped stops or the end could not be reported.
func (j *job) run(ctx context.Context) bool {
	defer j.controller.options.Deployments.Add(j.deployment)()
	var announced sync.WaitGroup
	announced.Go(func() { j.announce(ctx) })
	planned, outcome, err := j.planAndRun(ctx)
	announced.Wait()
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		j.controller.options.Logger.Error(
			"deployment could not be brought to its end; it is tried again when the control plane lists it",
			"deployment", j.deployment.GetId(), "error", err,
		)
		return false
	}
	j.conclude(ctx, planned, outcome)
	return true
}

// planAndRun plans the deployment unless it is planned, and runs it.
func (j *job) planAndRun(ctx context.Context) (*model.Deployment, Outcome, error) {
	d := j.deployment
	if d.GetStatus() == model.DeploymentStatus_DEPLOYMENT_PENDING {
		planned, err := j.plan(ctx)
		if err != nil {
			outcome, err := j.endUnplanned(ctx, err)
			return d, outcome, err
		}
		d = planned
	}
	outcome, err := j.controller.options.Scheduler.Run(ctx, d, &j.cancellation)
	return d, outcome, err
}

// plan waits for its turn and plans; a cancellation ends it at once.
func (j *job) plan(ctx context.Context) (*model.Deployment, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	defer j.cancellation.onCancel(func(by *CancelledError) { cancel(by) })()
	if err := j.awaitChain(ctx); err != nil {
		return nil, err
	}
	select {
	case j.controller.planning <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-j.controller.planning }()
	return j.controller.options.Planner.Plan(ctx, j.deployment)
}

// awaitChain holds a deployment of a chain back until the blocks before it have succeeded.
func (j *job) awaitChain(ctx context.Context) error {
	if j.deployment.GetDeploymentChainId() == "" {
		return nil
	}
	for {
		listed := j.controller.nextList()
		answer, err := j.controller.options.ControlPlane.InChainDeploymentPlannable(
			ctx,
			&pipedservice.InChainDeploymentPlannableRequest{
				DeploymentId:              j.deployment.GetId(),
				DeploymentChainId:         j.deployment.GetDeploymentChainId(),
				DeploymentChainBlockIndex: j.deployment.GetDeploymentChainBlockIndex(),
			},
		)
		switch {
		case err != nil && ctx.Err() == nil && controlplane.Refused(err):
			return fmt.Errorf("ask for the turn in deployment chain %s: %w", j.deployment.GetDeploymentChainId(), err)
		case err != nil && ctx.Err() == nil:
			j.controller.options.Logger.Warn(
				"could not ask for the turn of a deployment in its chain", "deployment", j.deployment.GetId(), "error",
				err,
			)
		case answer.GetCancel():
			return &chainCancelledError{answer.GetCancelReason()}
		case answer.GetPlannable():
			return nil
		}
		select {
		case <-listed:
		case <-j.controller.options.Clock.After(chainRecheck):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

type chainCancelledError struct{ reason string }

func (e *chainCancelledError) Error() string { return e.reason }

// endUnplanned reports the end of a deployment that got no plan.
func (j *job) endUnplanned(ctx context.Context, why error) (Outcome, error) {
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	j.planError = why
	outcome := Outcome{
		Status: model.DeploymentStatus_DEPLOYMENT_FAILURE,
		Reason: fmt.Sprintf("Planning failed: %v", why),
	}
	var cancelled *CancelledError
	var chain *chainCancelledError
	reports := j.controller.options.Scheduler.reports(newProgress(j.deployment))
	switch {
	case errors.As(why, &cancelled):
		when := " while planning"
		if cancelled.superseded() {
			when = " before it started"
		}
		outcome = Outcome{Status: model.DeploymentStatus_DEPLOYMENT_CANCELLED, Reason: cancelled.Error() + when}
		reports.saveCancellation(ctx, cancelled)
	case errors.As(why, &chain):
		outcome = Outcome{Status: model.DeploymentStatus_DEPLOYMENT_CANCELLED, Reason: chain.reason}
	}
	reports.saveCause(ctx, why)
	return outcome, reports.complete(ctx, outcome)
}

// announce reports that the application is being deployed.
func (j *job) announce(ctx context.Context) {
	j.before = j.stateBefore(ctx)
	j.reportDeploying(ctx, true)
	j.reportSync(
		ctx, model.ApplicationSyncStatus_DEPLOYING,
		fmt.Sprintf("Deployment of commit %.7s is under way", j.deployment.GetTrigger().GetCommit().GetHash()), "",
	)
}

// conclude reports the state of the application and of the commands. The sync state is what the deployment
// says, until the live state is compared.
func (j *job) conclude(ctx context.Context, d *model.Deployment, outcome Outcome) {
	var invalid *config.Error
	short, reason := redeploy.SyncState(d)
	switch {
	case outcome.Status == model.DeploymentStatus_DEPLOYMENT_SUCCESS && removal.Is(d):
		// The application is gone, and with it its state.
	case outcome.Status == model.DeploymentStatus_DEPLOYMENT_SUCCESS && short != "":
		j.reportSync(ctx, model.ApplicationSyncStatus_OUT_OF_SYNC, short, reason)
	case outcome.Status == model.DeploymentStatus_DEPLOYMENT_SUCCESS:
		j.reportSync(ctx, model.ApplicationSyncStatus_SYNCED, "", "")
	case errors.As(j.planError, &invalid):
		j.reportSync(
			ctx, model.ApplicationSyncStatus_INVALID_CONFIG, "The application configuration is invalid", outcome.Reason,
		)
	case outcome.Status == model.DeploymentStatus_DEPLOYMENT_CANCELLED && j.cancellation.by().superseded():
		j.reportSync(
			ctx, model.ApplicationSyncStatus_OUT_OF_SYNC, "A newer commit has superseded the last deployment",
			outcome.Reason,
		)
	case j.before != nil && outcome.Status == model.DeploymentStatus_DEPLOYMENT_CANCELLED && !outcome.Begun && runs(d):
		j.reportState(ctx, j.before) // neither the live state nor the commit that runs has changed
	case outcome.Status == model.DeploymentStatus_DEPLOYMENT_CANCELLED:
		j.reportSync(ctx, model.ApplicationSyncStatus_OUT_OF_SYNC, "The last deployment was cancelled", outcome.Reason)
	default:
		j.reportSync(ctx, model.ApplicationSyncStatus_OUT_OF_SYNC, "The last deployment failed", outcome.Reason)
	}
	j.reportDeploying(ctx, false)
	j.controller.options.Ended(d.GetApplicationId())

	j.controller.mu.Lock()
	cancels := j.commands
	j.commands = nil
	j.controller.finish(d.GetId()) // later cancel commands are refused from here on
	j.controller.mu.Unlock()
	for _, command := range cancels {
		status, why := model.CommandStatus_COMMAND_SUCCEEDED, unmet(command, outcome)
		if why != "" {
			status = model.CommandStatus_COMMAND_FAILED
		}
		handled(ctx, j.controller.options.ControlPlane, j.controller.options.Logger, command, status, why)
	}
	for _, stage := range d.GetStages() {
		for _, command := range j.controller.options.Commands.Take(d.GetId(), stage.GetId()) {
			handled(
				ctx, j.controller.options.ControlPlane, j.controller.options.Logger, command,
				model.CommandStatus_COMMAND_FAILED, "stage "+word(stage)+" had ended before the command arrived",
			)
		}
	}
}

// runs reports whether the commit of a deployment ran already when it was planned.
func runs(d *model.Deployment) bool {
	running := d.GetRunningCommitHash()
	return running != "" && running == d.GetTrigger().GetCommit().GetHash()
}

// stateBefore returns the sync state of the application, for a deployment that a user has triggered. It returns nil
// when the state is not known, as after a restart of piped.
func (j *job) stateBefore(ctx context.Context) *model.ApplicationSyncState {
	if j.deployment.GetTrigger().GetCommander() == "" {
		return nil // only users deploy again what runs and is as in Git
	}
	ctx, cancel := context.WithTimeout(controlplane.Once(ctx), reportTimeout)
	defer cancel()
	answer, err := j.controller.options.ControlPlane.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	if err != nil {
		j.controller.options.Logger.Warn("could not ask for the sync state of an application before its deployment",
			"application", j.deployment.GetApplicationName(), "error", err)
		return nil
	}
	for _, a := range answer.GetApplications() {
		if a.GetId() != j.deployment.GetApplicationId() {
			continue
		}
		switch a.GetSyncState().GetStatus() {
		case model.ApplicationSyncStatus_SYNCED, model.ApplicationSyncStatus_OUT_OF_SYNC:
			return a.GetSyncState()
		}
	}
	return nil
}

func (j *job) reportDeploying(ctx context.Context, deploying bool) {
	ctx, cancel := reporting(ctx)
	defer cancel()
	_, err := j.controller.options.ControlPlane.ReportApplicationDeployingStatus(
		ctx,
		&pipedservice.ReportApplicationDeployingStatusRequest{
			ApplicationId: j.deployment.GetApplicationId(), Deploying: deploying,
		},
	)
	if err != nil {
		j.controller.options.Logger.Warn(
			"report of an application's deploying status failed", "application", j.deployment.GetApplicationName(),
			"error", err,
		)
	}
}

func (j *job) reportSync(ctx context.Context, status model.ApplicationSyncStatus, short, reason string) {
	j.reportState(ctx, &model.ApplicationSyncState{
		Status: status, ShortReason: short, Reason: reason, HeadDeploymentId: j.deployment.GetId(),
		Timestamp: time.Now().Unix(),
	})
}

func (j *job) reportState(ctx context.Context, state *model.ApplicationSyncState) {
	ctx, cancel := reporting(ctx)
	defer cancel()
	_, err := j.controller.options.ControlPlane.ReportApplicationSyncState(
		ctx,
		&pipedservice.ReportApplicationSyncStateRequest{
			ApplicationId: j.deployment.GetApplicationId(), State: state,
		},
	)
	if err != nil {
		j.controller.options.Logger.Warn(
			"report of an application's sync state failed", "application", j.deployment.GetApplicationName(), "error",
			err,
		)
	}
}
