// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package publicapi

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	as "github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

const (
	// PipeCD v1: how long a piped may take when pipectl names no time.
	defaultHandleTimeout = 5 * time.Minute
	// PipeCD v1: how long results can be fetched.
	resultsKeptFor = 24 * time.Hour
)

// RequestPlanPreview asks every piped that watches the base branch of the repository. An empty
// answer says that none does.
func (s *Server) RequestPlanPreview(
	_ context.Context, r *as.RequestPlanPreviewRequest,
) (*as.RequestPlanPreviewResponse, error) {
	targets := s.store.Pipeds.PlanPreviewTargets(r.GetRepoRemoteUrl(), r.GetHeadBranch(), r.GetHeadCommit(),
		r.GetBaseBranch(),
		time.Duration(r.GetTimeout())*time.Second)
	answer := &as.RequestPlanPreviewResponse{}
	for _, c := range targets {
		id, err := s.store.Commands.Add(c)
		if err != nil {
			return nil, err
		}
		answer.Commands = append(answer.Commands, id)
	}
	return answer, nil
}

// GetPlanPreviewResults answers NotFound while a piped that is online still works on a command;
// pipectl asks again then.
func (s *Server) GetPlanPreviewResults(
	_ context.Context, r *as.GetPlanPreviewResultsRequest,
) (*as.GetPlanPreviewResultsResponse, error) {
	timeout := defaultHandleTimeout
	if seconds := r.GetCommandHandleTimeout(); seconds > 0 {
		timeout = time.Duration(seconds) * time.Second
	}
	answer := &as.GetPlanPreviewResultsResponse{}
	for _, id := range r.GetCommands() {
		result, err := s.planPreviewResult(id, timeout)
		if err != nil {
			return nil, err
		}
		answer.Results = append(answer.Results, result)
	}
	return answer, nil
}

func (s *Server) planPreviewResult(id string, timeout time.Duration) (*model.PlanPreviewCommandResult, error) {
	c, output, err := s.store.Commands.Get(id)
	if err != nil {
		return nil, err
	}
	if c.GetType() != model.Command_BUILD_PLAN_PREVIEW {
		return nil, status.Errorf(codes.FailedPrecondition, "Command %s is not a plan preview command", id)
	}
	p, err := s.store.Pipeds.Get(c.GetPipedId())
	if err != nil {
		return nil, err
	}
	result := &model.PlanPreviewCommandResult{CommandId: id, PipedId: c.GetPipedId()}
	now := s.store.Now()
	if c.GetStatus() == model.CommandStatus_COMMAND_NOT_HANDLED_YET {
		age := now.Sub(time.Unix(c.GetCreatedAt(), 0))
		switch {
		case p.GetStatus() != model.Piped_ONLINE:
			result.Error = "Maybe Piped is offline currently."
		case age > timeout:
			result.Error = fmt.Sprintf("Timed out, maybe the Piped did not handle the command within %v.", timeout)
		default:
			return nil, status.Errorf(codes.NotFound, "Waiting for result of command %s from piped %s", id,
				c.GetPipedId())
		}
		result.PipedName = p.GetName()
		return result, nil
	}
	if now.Sub(time.Unix(c.GetHandledAt(), 0)) > resultsKeptFor {
		return nil, status.Error(codes.FailedPrecondition,
			"The output of the command is gone: it was handled more than a day ago")
	}
	if result, err = store.DecodePlanPreview(c, output); err != nil {
		return nil, err
	}
	result.PipedName = p.GetName()
	return result, nil
}
