// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// isForStage: the answer to the command comes with the end of its stage.
func isForStage(command *model.Command) bool {
	return command.GetType() == model.Command_APPROVE_STAGE || command.GetType() == model.Command_SKIP_STAGE
}

// lateForStage refuses a command whose stage ended before it arrived, which PipeCD v1 leaves unanswered. A
// stage that runs here takes the command along to its end. It is called with the lock held.
func (c *Controller) lateForStage(ctx context.Context, command *model.Command) {
	if !c.options.Deployments.Running(command.GetDeploymentId(), command.GetStageId()) {
		c.start(func() { c.refuseLate(ctx, command) })
	}
}

func (c *Controller) refuseLate(ctx context.Context, command *model.Command) {
	deployment, stage := command.GetDeploymentId(), command.GetStageId()
	response, err := c.options.ControlPlane.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: deployment})
	found := find(response.GetDeployment(), stage)
	why := ""
	switch {
	case ctx.Err() != nil:
		return // the next piped sees the command
	case status.Code(err) == codes.NotFound, status.Code(err) == codes.PermissionDenied, deployment == "":
		why = fmt.Sprintf("there is no deployment %q of this piped", deployment)
	case err != nil:
		c.options.Logger.Warn(
			"could not look up the stage of a command; it is tried again", "command", command.GetId(), "error", err,
		)
		c.mu.Lock()
		delete(c.commands, command.GetId())
		c.mu.Unlock()
		return
	case found == nil:
		why = fmt.Sprintf("deployment %s has no stage %q", deployment, stage)
	case ended(found):
		why = fmt.Sprintf(
			"stage %s has ended already: %s", word(found), strings.TrimPrefix(found.GetStatus().String(), "STAGE_"),
		)
	case completed(response.GetDeployment().GetStatus()):
		why = fmt.Sprintf("deployment %s has ended already, without stage %s", deployment, word(found))
	}
	if why != "" && c.options.Commands.TakeOne(command.GetId()) {
		c.refuse(ctx, command, why)
	}
}
