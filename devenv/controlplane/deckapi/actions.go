// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// commitHash is the hash of a commit or the beginning of one, of at least the length that Git takes.
var commitHash = regexp.MustCompile(`^[0-9a-fA-F]{4,40}$`)

// Who acts when the caller gives no name.
const defaultCommander = "pipedeck"

// SyncApplication asks piped for a deployment of the newest commit or of the one that the request names, and waits for
// the answer of a piped that is connected.
func (s *Server) SyncApplication(
	ctx context.Context, r *deckv1.SyncApplicationRequest,
) (*deckv1.SyncApplicationResponse, error) {
	strategy, err := strategyOf(r.GetStrategy())
	if err != nil {
		return nil, err
	}
	a, err := s.store.Applications.Get(r.GetApplicationId())
	if err != nil {
		return nil, hint(err, "no application has the id %q; list them with `pipedeck apps`", r.GetApplicationId())
	}
	if r.GetCommit() != "" && !commitHash.MatchString(r.GetCommit()) {
		return nil, status.Errorf(codes.InvalidArgument,
			"commit %.80q is not a hash; write 4 to 40 digits of it, as git log prints them", r.GetCommit())
	}
	id, err := s.store.Sync(a.GetId(), r.GetCommit(), cmp.Or(r.GetCommander(), defaultCommander), strategy)
	if err != nil {
		return nil, err
	}
	answer := &deckv1.SyncApplicationResponse{CommandId: id}
	if answer.Unanswered = s.unreachable(a.GetPipedId()); answer.Unanswered != "" {
		return answer, nil
	}
	answer.DeploymentId, err = s.created(ctx, id, syncWait)
	if err != nil {
		next := "correct that in its repository, then run: pipedeck sync " + a.GetName()
		if r.GetCommit() != "" {
			next = "choose another commit of the branch, as git log prints them"
		}
		return nil, hint(err, "piped refuses to deploy %s: %s; %s", a.GetName(), status.Convert(err).Message(), next)
	}
	if answer.DeploymentId == "" {
		answer.Unanswered = fmt.Sprintf("piped has not answered within %s", syncWait)
	}
	return answer, nil
}

// unreachable is why a piped does not answer a command now; empty when it should.
func (s *Server) unreachable(pipedID string) string {
	piped, err := s.store.Pipeds.Get(pipedID)
	if err != nil || piped.GetStatus() != model.Piped_ONLINE {
		return "piped is not connected; it deploys once it is"
	}
	return ""
}

// CancelDeployment asks piped to stop a deployment. Asking twice for the same gives the same command.
func (s *Server) CancelDeployment(
	_ context.Context, r *deckv1.CancelDeploymentRequest,
) (*deckv1.CancelDeploymentResponse, error) {
	d, err := s.openDeployment(r.GetDeploymentId())
	if err != nil {
		return nil, err
	}
	if r.GetRollback() != deckv1.CancelDeploymentRequest_ROLLBACK_UNSPECIFIED &&
		d.GetStatus() == model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK {
		return nil, status.Errorf(codes.FailedPrecondition,
			"deployment %s is being rolled back already; wait for its end", d.GetId())
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
	if operation(stage) != model.ManualOperation_MANUAL_OPERATION_APPROVE {
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
