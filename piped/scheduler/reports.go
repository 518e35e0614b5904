// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/failpoint"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
	"github.com/pipedeck/pipedeck/piped/removal"
	"github.com/pipedeck/pipedeck/system/clock"
)

// Places of piped's own lines in a stage log. The control plane orders by number and drops repeated ones;
// plugins number their blocks from the unix time on, in seconds (PipeCD's SDK) or microseconds (ours).
const (
	afterPlugin = iota
	beforePlugin
	beforeCall // what the plugin host knows of the process that gets the call
	injected   // faults that a user wants
	named      // the build of the plugin that gets the call
	pausedAt   // a breakpoint
	editedAt   // a breakpoint, with what
)

// afterFirst is the place of the second line of those that stand at beforeCall; others follow it.
const afterFirst = 16

// reporting is a context for one report, which a stopping piped still makes.
func reporting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
}

// reports sends what happens to a deployment to the control plane.
type reports struct {
	controlPlane pipedservice.PipedServiceClient
	commands     StageCommands
	logger       *slog.Logger
	clock        clock.Clock
	// pause is that after a report that did not get through.
	pause      time.Duration
	failpoints *failpoint.Set
	progress   *progress
	// saved is the cancellation that was recorded last.
	saved atomic.Pointer[CancelledError]
}

func (r *reports) setStatus(ctx context.Context, status model.DeploymentStatus, reason string) {
	if ctx.Err() != nil {
		return
	}
	r.progress.deployment.Status, r.progress.deployment.StatusReason = status, reason
	ctx, cancel := reporting(ctx)
	defer cancel()
	_, err := r.controlPlane.ReportDeploymentStatusChanged(ctx, &pipedservice.ReportDeploymentStatusChangedRequest{
		DeploymentId:              r.progress.id(),
		Status:                    status,
		StatusReason:              reason,
		DeploymentChainId:         r.progress.deployment.GetDeploymentChainId(),
		DeploymentChainBlockIndex: r.progress.deployment.GetDeploymentChainBlockIndex(),
	})
	if err != nil {
		r.logger.Error(
			"report of a deployment status failed", "deployment", r.progress.id(), "status", status, "error", err,
		)
	}
}

// beginStage records an attempt before anything is done, so that the next piped knows of it. Nothing is
// done without the record: it goes on trying until work ends, and fails when the control plane refuses. run is what the
// stage is executed with; nil where that is not known.
func (r *reports) beginStage(
	ctx, work context.Context, stage *model.PipelineStage, run *agentv1.StageRun, reason string,
) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.stage(withRun(work, run), stage, model.StageStatus_STAGE_RUNNING, reason)
}

// endStage records an end. It goes on trying until ctx ends: what is not recorded is run again by the next
// piped.
func (r *reports) endStage(ctx context.Context, stage *model.PipelineStage, status model.StageStatus, reason string) {
	if err := r.failpoints.Hit(ctx, "stage-report"); err != nil {
		return
	}
	if err := r.stage(ctx, stage, status, reason); err != nil {
		r.of(stage).Error("report of a stage's end failed", "status", status, "error", err)
	}
}

// stage sets the status and tries to report it until patience ends or the control plane refuses.
func (r *reports) stage(
	patience context.Context, stage *model.PipelineStage, status model.StageStatus, reason string,
) error {
	now := r.clock.Now()
	at := now
	if status == model.StageStatus_STAGE_RUNNING {
		at = r.progress.firstStart(stage, now)
	}
	r.progress.set(stage, status, reason, now)
	request := &pipedservice.ReportStageStatusChangedRequest{
		DeploymentId: r.progress.id(),
		StageId:      stage.GetId(),
		Status:       status,
		StatusReason: reason,
		Requires:     stage.GetRequires(),
		RetriedCount: stage.GetRetriedCount(),
		CompletedAt:  at.Unix(), // PipeCD v1 sends the time of the report with every status
	}
	err := r.persist(patience, r.of(stage).With("status", status), func(ctx context.Context) error {
		_, err := r.controlPlane.ReportStageStatusChanged(ctx, request)
		return err
	})
	if err != nil && patience.Err() == nil {
		return fmt.Errorf("record the stage as %s at the control plane: %w", status, err)
	}
	return err
}

// persist repeats a report until it gets through, patience ends or the control plane refuses it.
func (r *reports) persist(patience context.Context, logger *slog.Logger, report func(context.Context) error) error {
	backoff := clock.NewBackoff(r.pause, r.pause)
	for failures := 0; ; {
		ctx, cancel := reporting(patience)
		err := report(ctx)
		cancel()
		if !controlplane.Passing(err) {
			failures++
		}
		switch {
		case err == nil:
			return nil
		case patience.Err() != nil:
			return context.Cause(patience)
		case controlplane.Refused(err), failures >= maxFailures:
			return err
		}
		logger.Warn("a report of a deployment did not get through; piped retries it", "error", err)
		if err := backoff.Wait(patience, r.clock); err != nil {
			return err
		}
	}
}

// maxFailures bounds the tries of a report that the control plane takes but fails at: it may well fail
// always. One that is away comes back.
const maxFailures = 10

// complete reports the end. Unlike the other reports a failing one is an error: the deployment would stay
// open at the control plane.
func (r *reports) complete(ctx context.Context, outcome Outcome) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := reporting(ctx)
	defer cancel()
	now := r.clock.Now().Unix()
	statuses := map[string]model.StageStatus{}
	for _, stage := range r.progress.deployment.GetStages() {
		statuses[stage.GetId()] = stage.GetStatus()
	}
	_, err := r.controlPlane.ReportDeploymentCompleted(ctx, &pipedservice.ReportDeploymentCompletedRequest{
		DeploymentId:              r.progress.id(),
		Status:                    outcome.Status,
		StatusReason:              outcome.Reason,
		StageStatuses:             statuses,
		DeploymentChainId:         r.progress.deployment.GetDeploymentChainId(),
		DeploymentChainBlockIndex: r.progress.deployment.GetDeploymentChainBlockIndex(),
		CompletedAt:               now,
	})
	if err != nil {
		return fmt.Errorf("report the end of deployment %s: %w", r.progress.id(), err)
	}
	r.logger.Info("deployment ended", "deployment", r.progress.id(),
		"application", r.progress.deployment.GetApplicationName(), "status", outcome.Status, "reason", outcome.Reason)
	if outcome.Status != model.DeploymentStatus_DEPLOYMENT_SUCCESS || removal.Is(r.progress.deployment) {
		return nil // a removed application has no last deployment
	}
	_, err = r.controlPlane.ReportApplicationMostRecentDeployment(
		ctx,
		&pipedservice.ReportApplicationMostRecentDeploymentRequest{
			ApplicationId: r.progress.deployment.GetApplicationId(),
			Status:        outcome.Status,
			Deployment:    reference(r.progress.deployment, now),
		},
	)
	if err != nil {
		r.logger.Error("report of the last successful deployment failed", "deployment", r.progress.id(), "error", err)
	}
	return nil
}

// reference is the part of a deployment that its application remembers.
func reference(d *model.Deployment, completedAt int64) *model.ApplicationDeploymentReference {
	return &model.ApplicationDeploymentReference{
		DeploymentId:   d.GetId(),
		Trigger:        d.GetTrigger(),
		Summary:        d.GetSummary(),
		Versions:       d.GetVersions(),
		ConfigFilename: d.GetGitPath().GetConfigFilename(),
		StartedAt:      max(1, d.GetCreatedAt()),
		CompletedAt:    completedAt,
	}
}

// handleCommands reports the commands of an ended stage as handled. PipeCD v1:
// all of them succeed, whatever became of the stage. A decision about a pause is late.
func (r *reports) handleCommands(ctx context.Context, stage *model.PipelineStage) {
	for _, command := range r.commands.Take(r.progress.id(), stage.GetId()) {
		if how, _ := pluginservice.DecisionOf(command); how != "" {
			handled(ctx, r.controlPlane, r.logger, command, model.CommandStatus_COMMAND_FAILED,
				"stage "+word(stage)+" is not paused any more")
			continue
		}
		handled(ctx, r.controlPlane, r.logger, command, model.CommandStatus_COMMAND_SUCCEEDED, "")
	}
}

// handled reports one command; why is given to the user when it failed.
func handled(
	ctx context.Context, controlPlane pipedservice.PipedServiceClient, logger *slog.Logger, command *model.Command,
	status model.CommandStatus, why string,
) {
	ctx, cancel := reporting(ctx)
	defer cancel()
	request := &pipedservice.ReportCommandHandledRequest{
		CommandId: command.GetId(),
		Status:    status,
		HandledAt: time.Now().Unix(),
	}
	if why != "" {
		request.Metadata = map[string]string{"Reason": why}
		request.Output = []byte(why)
	}
	if _, err := controlPlane.ReportCommandHandled(ctx, request); err != nil {
		logger.Error("report of a handled command failed", "command", command.GetId(), "error", err)
	}
}

// note writes a line of piped's own into the log of a stage. A line after the plugin's completes the log
// of that attempt: the plugin will not do it any more.
func (r *reports) note(
	ctx context.Context, stage *model.PipelineStage, place int, severity model.LogSeverity, text string,
) {
	ctx, cancel := reporting(ctx)
	defer cancel()
	now := r.clock.Now().Unix()
	block := &model.LogBlock{Index: int64(place), Log: text, Severity: severity, CreatedAt: now}
	var err error
	if place != afterPlugin {
		_, err = r.controlPlane.ReportStageLogs(ctx, &pipedservice.ReportStageLogsRequest{
			DeploymentId: r.progress.id(), StageId: stage.GetId(), RetriedCount: stage.GetRetriedCount(),
			Blocks: []*model.LogBlock{block},
		})
	} else {
		block.Index = r.clock.Now().UnixMicro()
		request := &pipedservice.ReportStageLogsFromLastCheckpointRequest{
			DeploymentId: r.progress.id(), StageId: stage.GetId(), RetriedCount: stage.GetRetriedCount(),
			Blocks: []*model.LogBlock{block}, Completed: true,
		}
		_, err = r.controlPlane.ReportStageLogsFromLastCheckpoint(ctx, request)
	}
	if err != nil {
		r.of(stage).Debug("a line for the stage log was not taken", "line", text, "error", err)
	}
}

func (r *reports) of(stage *model.PipelineStage) *slog.Logger {
	d := r.progress.deployment
	return r.logger.With("deployment", d.GetId(), "application", d.GetApplicationName(), "stage", stage.GetName())
}
