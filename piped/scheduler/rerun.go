// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
	"github.com/pipedeck/pipedeck/system/clock"
)

// rerunPatience is how long a re-run waits until its deployment has been put away, and for the end of another re-run
// of its application, which a user may just have left.
const rerunPatience = 30 * time.Second

// Scratches takes what plugins report during a re-run.
type Scratches interface {
	// AddScratch makes a deployment known until remove is called. Nothing that plugins report about it is kept.
	AddScratch(d *model.Deployment, log func([]*model.LogBlock)) (_ *pluginservice.Scratch, remove func(), err error)
}

var _ Scratches = (*pluginservice.Registry)(nil)

// RerunRefusal is why a stage is not re-run.
type RerunRefusal struct {
	Reason, NextStep string
}

func (e *RerunRefusal) Error() string { return e.Reason + "; " + e.NextStep }

// RerunResult is how a re-run has ended.
type RerunResult struct {
	Status model.StageStatus
	Reason string
	// Forgotten is the number of values of metadata and shared objects that the plugin has put.
	Forgotten int
}

// Rerun has the plugin of a stage that has run execute it once more, apart from its deployment: with the same commits,
// options and timeout, and sources that are prepared for it. The stage begins without its metadata; other
// metadata is as the deployment has left it. Nothing that the plugin reports is kept: the log goes to log, the rest is
// forgotten at the end. No deployment of the application runs meanwhile.
//
// The end of work cancels it, by its cause, as a user cancels a deployment; ctx is piped's. It returns a *RerunRefusal
// when the stage cannot be re-run now.
func (c *Controller) Rerun(
	ctx, work context.Context, deploymentID, stageID string, log func([]*model.LogBlock),
) (RerunResult, error) {
	d, err := c.toRerun(work, deploymentID, stageID)
	if err != nil {
		return RerunResult{}, err
	}
	release, err := c.hold(work, d)
	if err != nil {
		return RerunResult{}, err
	}
	defer release()
	scratch, remove, err := c.options.Scratches.AddScratch(d, log)
	if err != nil {
		return RerunResult{}, &RerunRefusal{err.Error(), "run it again when that has ended"}
	}
	defer remove()
	result := c.options.Scheduler.rerun(ctx, work, d, stageID, scratch)
	result.Forgotten = scratch.Forgotten()
	if result.Status == model.StageStatus_STAGE_FAILURE && result.Reason == "" { // the log has it, if anything
		result.Reason = cmp.Or(scratch.LastError(), "the plugin gave no reason, and its log has no error")
	}
	return result, nil
}

// toRerun returns the deployment of a stage as it was before the stage.
func (c *Controller) toRerun(ctx context.Context, deploymentID, stageID string) (*model.Deployment, error) {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	response, err := c.options.ControlPlane.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: deploymentID})
	if code := status.Code(err); code == codes.NotFound || code == codes.PermissionDenied {
		return nil, &RerunRefusal{fmt.Sprintf("there is no deployment %q of this piped", deploymentID),
			"see: pipedeck deployments"}
	} else if err != nil {
		return nil, fmt.Errorf("ask for deployment %s: %w", deploymentID, err)
	}
	d := proto.CloneOf(response.GetDeployment())
	stage := find(d, stageID)
	switch {
	case !completed(d.GetStatus()):
		return nil, &RerunRefusal{
			fmt.Sprintf("deployment %s has not ended, and a stage never runs twice at the same time", deploymentID),
			"wait for its end, or run: pipedeck cancel " + deploymentID}
	case stage == nil:
		return nil, &RerunRefusal{fmt.Sprintf("deployment %s has no stage %q", deploymentID, stageID),
			"see: pipedeck deployments"}
	case stage.GetStatus() == model.StageStatus_STAGE_NOT_STARTED_YET:
		return nil, &RerunRefusal{fmt.Sprintf("stage %s of deployment %s has not run", word(stage), deploymentID),
			"choose a stage that has run with --stage"}
	}
	d.Status, d.StatusReason, d.CompletedAt = model.DeploymentStatus_DEPLOYMENT_PLANNED, "", 0
	stage.Status, stage.StatusReason = model.StageStatus_STAGE_NOT_STARTED_YET, ""
	stage.CompletedAt, stage.RetriedCount, stage.Metadata = 0, 0, nil
	return d, nil
}

// hold keeps the deployments of an application back until release is called.
func (c *Controller) hold(ctx context.Context, d *model.Deployment) (release func(), err error) {
	ctx, cancel := clock.WithTimeout(ctx, c.options.Clock, rerunPatience, context.DeadlineExceeded)
	defer cancel()
	application := d.GetApplicationId()
	for {
		c.mu.Lock()
		other, active := c.held[application], c.active[application]
		switch {
		case active != nil && active.deployment.GetId() == d.GetId() && !c.stopped:
			other = active.over // it has ended already, and is about to be forgotten
		case c.stopped || active != nil:
			c.mu.Unlock()
			return nil, &RerunRefusal{
				fmt.Sprintf("application %s is being deployed, and its stages run one after the other",
					d.GetApplicationName()),
				"run it again when the deployment has ended"}
		case other == nil:
			ended := make(chan struct{})
			c.held[application] = ended
			c.mu.Unlock()
			return func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.held, application)
				close(ended)
				c.nudge()
			}, nil
		}
		c.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, &RerunRefusal{
				fmt.Sprintf("another stage of application %s is being re-run", d.GetApplicationName()),
				"end that re-run with Ctrl-C"}
		}
	}
}

// rerun executes one stage with the parts of a deployment, whose reports go to the scratch.
func (s *Scheduler) rerun(
	ctx, work context.Context, d *model.Deployment, stageID string, scratch *pluginservice.Scratch,
) RerunResult {
	apart := *s
	apart.options.ControlPlane = &scratchReports{scratch: scratch}
	apart.options.Announce, apart.options.Faults, apart.options.Failpoints = nil, nil, nil
	apart.options.Pauses = PauseOptions{} // breakpoints are for the deployment
	r := apart.newRun(d, &Cancellation{})
	r.executor.apart = true
	defer r.executor.sources.close()
	r.progress.deployment.Status = model.DeploymentStatus_DEPLOYMENT_RUNNING
	stage := find(r.progress.deployment, stageID)
	result := r.executor.try(ctx, work, stage, false, pauseNote{})
	switch {
	case result.interrupted != nil && work.Err() != nil:
		result = r.executor.stopped(ctx, work, stage, result.interrupted)
	case result.interrupted != nil:
		result = failure(result.interrupted.Error())
	}
	return RerunResult{Status: result.status, Reason: result.reason}
}

// scratchReports is the control plane of a re-run.
type scratchReports struct {
	pipedservice.PipedServiceClient // nil: a re-run makes the calls below only
	scratch                         *pluginservice.Scratch
}

// ReportStageStatusChanged is forgotten.
func (*scratchReports) ReportStageStatusChanged(
	context.Context, *pipedservice.ReportStageStatusChangedRequest, ...grpc.CallOption,
) (*pipedservice.ReportStageStatusChangedResponse, error) {
	return &pipedservice.ReportStageStatusChangedResponse{}, nil
}

// ReportStageLogs shows piped's own lines.
func (r *scratchReports) ReportStageLogs(
	_ context.Context, request *pipedservice.ReportStageLogsRequest, _ ...grpc.CallOption,
) (*pipedservice.ReportStageLogsResponse, error) {
	r.scratch.Report(request.GetBlocks())
	return &pipedservice.ReportStageLogsResponse{}, nil
}

// ReportStageLogsFromLastCheckpoint shows piped's own lines after those of the plugin.
func (r *scratchReports) ReportStageLogsFromLastCheckpoint(
	_ context.Context, request *pipedservice.ReportStageLogsFromLastCheckpointRequest, _ ...grpc.CallOption,
) (*pipedservice.ReportStageLogsFromLastCheckpointResponse, error) {
	r.scratch.Report(request.GetBlocks())
	return &pipedservice.ReportStageLogsFromLastCheckpointResponse{}, nil
}

// LeftRerun is the cause with which the context of a re-run ends when its user no longer waits.
func LeftRerun() error { return &CancelledError{Commander: "the user who wanted the re-run"} }
