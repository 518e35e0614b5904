// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// HandleCommands takes an answer of ListUnhandledCommands, which Commands has got before, and acts on those
// that cancel a deployment. A command is reported handled when its deployment has ended; one for a
// deployment or a stage that has ended already or does not exist fails with the reason.
func (c *Controller) HandleCommands(ctx context.Context, unhandled []*model.Command) {
	for _, command := range unhandled {
		if command.GetType() == model.Command_CANCEL_DEPLOYMENT || isForStage(command) {
			c.handle(ctx, command)
		}
	}
	c.forgetCommands(unhandled)
}

func (c *Controller) handle(ctx context.Context, command *model.Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.commands[command.GetId()] {
		return
	}
	c.commands[command.GetId()] = true
	if isForStage(command) {
		c.lateForStage(ctx, command)
		return
	}
	c.cancel(ctx, command)
}

// cancel is called with the lock held.
func (c *Controller) cancel(ctx context.Context, command *model.Command) {
	if how := command.GetCancelDeployment(); how.GetForceRollback() && how.GetForceNoRollback() {
		c.start(func() { c.refuse(ctx, command, "the command asks for a rollback and for none; give one of them") })
		return
	}
	if !c.cancelKnown(command) {
		c.start(func() { c.cancelUnknown(ctx, command) })
	}
}

// cancelKnown cancels a deployment that runs or waits. It is called with the lock held.
func (c *Controller) cancelKnown(command *model.Command) bool {
	id := deploymentOf(command)
	if slices.Contains(c.finished, id) {
		return false
	}
	if j := c.activeJob(id); j != nil {
		j.commands = append(j.commands, command)
		j.cancellation.Cancel(cancelRequest(command))
		return true
	}
	for i, d := range c.waiting {
		if d.GetId() == id && d.GetStatus() == model.DeploymentStatus_DEPLOYMENT_PENDING {
			c.waiting = slices.Delete(c.waiting, i, i+1)
			c.end(d, cancelRequest(command), command)
			c.nudge() // it supersedes no other one any more
			return true
		}
	}
	return false
}

// end gives a deployment that waits a separate job, which ends it before anything is done. It is called with the lock
// held.
func (c *Controller) end(d *model.Deployment, by *CancelledError, commands ...*model.Command) {
	j := &job{controller: c, deployment: d, commands: commands}
	j.cancellation.Cancel(by)
	c.finish(d.GetId()) // a list that the control plane has made before the end is none of its news
	c.start(func() { c.endWaiting(j) })
}

// endWaiting ends a deployment that was cancelled while another one of its application ran.
func (c *Controller) endWaiting(j *job) {
	ctx, cancel := reporting(context.Background())
	defer cancel()
	outcome, err := j.endUnplanned(ctx, j.cancellation.by())
	if err != nil {
		c.options.Logger.Error(
			"report of a cancelled deployment failed; it is cancelled again when the control plane lists it",
			"deployment", j.deployment.GetId(), "error", err,
		)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.finished = slices.DeleteFunc(c.finished, func(id string) bool { return id == j.deployment.GetId() })
		for _, command := range j.commands {
			delete(c.commands, command.GetId())
		}
		return
	}
	c.options.Logger.Info("waiting deployment cancelled", "deployment", j.deployment.GetId(), "reason", outcome.Reason)
	for _, command := range j.commands {
		handled(ctx, c.options.ControlPlane, c.options.Logger, command, model.CommandStatus_COMMAND_SUCCEEDED, "")
	}
}

// cancelUnknown asks the control plane about a deployment that is not known here.
func (c *Controller) cancelUnknown(ctx context.Context, command *model.Command) {
	id := deploymentOf(command)
	response, err := c.options.ControlPlane.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: id})
	d := response.GetDeployment()
	switch {
	case ctx.Err() != nil:
		return // the next piped sees the command
	case status.Code(err) == codes.NotFound, status.Code(err) == codes.PermissionDenied, id == "":
		c.refuse(ctx, command, fmt.Sprintf("there is no deployment %q of this piped", id))
	case err != nil:
		c.options.Logger.Warn(
			"could not look up the deployment to cancel; the command is tried again", "deployment", id, "error", err,
		)
		c.mu.Lock()
		delete(c.commands, command.GetId())
		c.mu.Unlock()
	case completed(d.GetStatus()):
		ended := strings.TrimPrefix(d.GetStatus().String(), "DEPLOYMENT_")
		c.refuse(ctx, command, fmt.Sprintf("deployment %s has ended already: %s", id, ended))
	default:
		c.Submit(d)
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.cancelKnown(command) {
			delete(c.commands, command.GetId()) // it has just ended: the next round says so
		}
	}
}

func (c *Controller) refuse(ctx context.Context, command *model.Command, why string) {
	handled(ctx, c.options.ControlPlane, c.options.Logger, command, model.CommandStatus_COMMAND_FAILED, why)
}

// forgetCommands drops the ids that the control plane lists no more.
func (c *Controller) forgetCommands(unhandled []*model.Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.commands {
		if !slices.ContainsFunc(unhandled, func(command *model.Command) bool { return command.GetId() == id }) {
			delete(c.commands, id)
		}
	}
}

func cancelRequest(command *model.Command) *CancelledError {
	how := command.GetCancelDeployment()
	return &CancelledError{
		Commander:  command.GetCommander(),
		Rollback:   how.GetForceRollback(),
		NoRollback: how.GetForceNoRollback(),
	}
}

// unmet says which part of the command was not carried out; empty when all of it was.
func unmet(command *model.Command, outcome Outcome) string {
	how := command.GetCancelDeployment()
	switch {
	case outcome.Status == model.DeploymentStatus_DEPLOYMENT_SUCCESS:
		return "the deployment had succeeded before the command arrived"
	case how.GetForceNoRollback() && outcome.RolledBack && !outcome.RollbackStopped:
		return "the rollback had ended before the command arrived"
	case how.GetForceRollback() && outcome.Begun && !outcome.RolledBack:
		return "the deployment was stopped and not rolled back: its plan has no rollback stages"
	default:
		return ""
	}
}

func deploymentOf(command *model.Command) string {
	if id := command.GetCancelDeployment().GetDeploymentId(); id != "" {
		return id
	}
	return command.GetDeploymentId()
}
