// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// Who acts when the caller gives no name.
const defaultCommander = "pipedeck"

// CancelDeployment asks piped to stop a deployment. Asking twice for the same gives the same command.
func (s *Server) CancelDeployment(
	_ context.Context, r *deckv1.CancelDeploymentRequest,
) (*deckv1.CancelDeploymentResponse, error) {
	d, err := s.openDeployment(r.GetDeploymentId())
	if err != nil {
		return nil, err
	}
	if r.GetRollback() != deckv1.CancelDeploymentRequest_ROLLBACK_NONE &&
		d.GetStatus() == model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK {
		return nil, status.Errorf(codes.FailedPrecondition,
			"deployment %s is being rolled back already; wait for its end, or stop the rollback and leave what is "+
				"there: pipedeck cancel %s --no-rollback", d.GetId(), d.GetId())
	}
	id, err := s.store.Commands.Add(&model.Command{
		PipedId: d.GetPipedId(), ApplicationId: d.GetApplicationId(), DeploymentId: d.GetId(),
		Commander: cmp.Or(r.GetCommander(), defaultCommander), Type: model.Command_CANCEL_DEPLOYMENT,
		CancelDeployment: &model.Command_CancelDeployment{
			DeploymentId:    d.GetId(),
			ForceRollback:   r.GetRollback() == deckv1.CancelDeploymentRequest_ROLLBACK_FORCED,
			ForceNoRollback: r.GetRollback() == deckv1.CancelDeploymentRequest_ROLLBACK_NONE,
		},
	})
	if err != nil {
		return nil, err
	}
	return &deckv1.CancelDeploymentResponse{CommandId: id}, nil
}

// ApproveStage approves a stage that waits for it.
func (s *Server) ApproveStage(_ context.Context, r *deckv1.ApproveStageRequest) (*deckv1.ApproveStageResponse, error) {
	d, stage, err := s.runningStage(r.GetDeploymentId(), r.GetStageId())
	if err != nil {
		return nil, err
	}
	if operation(stage) != model.ManualOperation_MANUAL_OPERATION_APPROVE || !waits(stage) {
		return nil, status.Errorf(codes.FailedPrecondition,
			"stage %s does not wait for an approval; it goes on by itself", stageWord(stage))
	}
	commander, err := s.approver(d, stage, r.GetCommander())
	if err != nil {
		return nil, err
	}
	if err := s.recordUser(d, stage, commander, r.GetUser()); err != nil {
		return nil, err
	}
	id, err := s.store.Commands.Add(&model.Command{
		PipedId: d.GetPipedId(), ApplicationId: d.GetApplicationId(), DeploymentId: d.GetId(), StageId: stage.GetId(),
		Commander: commander, Type: model.Command_APPROVE_STAGE,
		ApproveStage: &model.Command_ApproveStage{DeploymentId: d.GetId(), StageId: stage.GetId()},
	})
	if err != nil {
		return nil, err
	}
	return &deckv1.ApproveStageResponse{CommandId: id}, nil
}

// SkipStage ends a stage that allows it.
func (s *Server) SkipStage(_ context.Context, r *deckv1.SkipStageRequest) (*deckv1.SkipStageResponse, error) {
	d, stage, err := s.runningStage(r.GetDeploymentId(), r.GetStageId())
	if err != nil {
		return nil, err
	}
	if operation(stage) != model.ManualOperation_MANUAL_OPERATION_SKIP {
		return nil, status.Errorf(codes.FailedPrecondition,
			"stage %s cannot be skipped; cancel the deployment to stop it", stageWord(stage))
	}
	id, err := s.store.Commands.Add(&model.Command{
		PipedId: d.GetPipedId(), ApplicationId: d.GetApplicationId(), DeploymentId: d.GetId(), StageId: stage.GetId(),
		Commander: cmp.Or(r.GetCommander(), defaultCommander), Type: model.Command_SKIP_STAGE,
		SkipStage: &model.Command_SkipStage{DeploymentId: d.GetId(), StageId: stage.GetId()},
	})
	if err != nil {
		return nil, err
	}
	return &deckv1.SkipStageResponse{CommandId: id}, nil
}

// RestartPlugin asks piped to restart a plugin process.
func (s *Server) RestartPlugin(
	_ context.Context, r *deckv1.RestartPluginRequest,
) (*deckv1.RestartPluginResponse, error) {
	if err := s.store.Pipeds.RestartPlugin(r.GetPipedId(), r.GetName()); err != nil {
		return nil, err
	}
	return &deckv1.RestartPluginResponse{}, nil
}

// lookTimeout bounds how long a user waits for a look: piped gives up earlier, but may have one to finish before.
const lookTimeout = 25 * time.Minute

// LookAtApplication has piped look at the live state of an application, and waits until it has.
func (s *Server) LookAtApplication(
	ctx context.Context, r *deckv1.LookAtApplicationRequest,
) (*deckv1.LookAtApplicationResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	look, err := s.store.LookNow(ctx, r.GetApplicationId())
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if err != nil {
		return nil, err
	}
	return &deckv1.LookAtApplicationResponse{Error: look.Error, Took: durationpb.New(look.Took)}, nil
}

func (s *Server) openDeployment(id string) (*model.Deployment, error) {
	d, err := s.store.Deployments.Get(id)
	if err != nil {
		return nil, unknownDeployment(err, id)
	}
	if d.Model.GetStatus() >= model.DeploymentStatus_DEPLOYMENT_SUCCESS {
		return nil, status.Errorf(codes.FailedPrecondition,
			"deployment %s has ended already (%s); start a new one with `pipedeck sync %s`",
			id, word(d.Model.GetStatus().String(), "DEPLOYMENT_"), d.Model.GetApplicationName())
	}
	return d.Model, nil
}

func (s *Server) runningStage(deploymentID, stageID string) (*model.Deployment, *model.PipelineStage, error) {
	d, err := s.openDeployment(deploymentID)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(d.GetStages(), func(p *model.PipelineStage) bool { return p.GetId() == stageID })
	if i < 0 {
		return nil, nil, unknownStage(deploymentID, stageID)
	}
	stage := d.GetStages()[i]
	if stage.GetStatus() != model.StageStatus_STAGE_RUNNING {
		next := "wait until it runs"
		if stage.GetStatus() > model.StageStatus_STAGE_RUNNING {
			next = "nothing is left to do there"
		}
		return nil, nil, status.Errorf(codes.FailedPrecondition, "stage %s does not run (%s); %s",
			stageWord(stage), word(stage.GetStatus().String(), "STAGE_"), next)
	}
	return d, stage, nil
}

func unknownStage(deployment, stage string) error {
	return status.Errorf(codes.NotFound,
		"deployment %s has no stage %q; `pipedeck deployments -o json` lists its stages", deployment, stage)
}

// hint replaces the words of an error by better ones and keeps its code.
func hint(err error, format string, args ...any) error {
	return status.Error(status.Code(err), fmt.Sprintf(format, args...))
}

func word(enum, prefix string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(enum, prefix), "_", " "))
}
