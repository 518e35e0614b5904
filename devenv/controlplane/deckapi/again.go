// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"cmp"
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// answerWait is how long a user waits for piped to accept or refuse an earlier commit. piped reads the repository
// first, which may take longer; the command goes on then.
const answerWait = 2 * time.Second

// syncWait is how long a user waits for piped to accept or refuse the newest commit: less than callers wait for any
// answer. piped fetches the repository first.
const syncWait = 8 * time.Second

// RetryDeployment asks piped to deploy the commit of a failed or cancelled deployment again. Asking twice for the same
// gives the same command.
func (s *Server) RetryDeployment(
	ctx context.Context, r *deckv1.RetryDeploymentRequest,
) (*deckv1.RetryDeploymentResponse, error) {
	id, err := s.store.Retry(r.GetDeploymentId(), cmp.Or(r.GetCommander(), defaultCommander))
	if err != nil {
		return nil, unknownDeployment(err, r.GetDeploymentId())
	}
	deployment, err := s.created(ctx, id, answerWait)
	if err != nil {
		return nil, err
	}
	return &deckv1.RetryDeploymentResponse{CommandId: id, DeploymentId: deployment}, nil
}

// RollBackApplication asks piped to deploy the commit of an earlier deployment again. Asking twice for the same gives
// the same command.
func (s *Server) RollBackApplication(
	ctx context.Context, r *deckv1.RollBackApplicationRequest,
) (*deckv1.RollBackApplicationResponse, error) {
	strategy, err := strategyOf(r.GetStrategy())
	if err != nil {
		return nil, err
	}
	id, err := s.store.RollBack(r.GetDeploymentId(), cmp.Or(r.GetCommander(), defaultCommander), strategy)
	if err != nil {
		return nil, unknownDeployment(err, r.GetDeploymentId())
	}
	deployment, err := s.created(ctx, id, answerWait)
	if err != nil {
		return nil, err
	}
	return &deckv1.RollBackApplicationResponse{CommandId: id, DeploymentId: deployment}, nil
}

// created waits within the limit for piped's answer to a command and returns the deployment that it has created, or
// why it has not. The id is empty when the answer takes longer.
func (s *Server) created(ctx context.Context, command string, limit time.Duration) (deployment string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answered, err := s.store.Commands.Await(command)
	if err != nil {
		return "", err
	}
	select {
	case <-answered:
	case <-ctx.Done():
		return "", nil
	}
	handled, _, err := s.store.Commands.Get(command)
	if err != nil {
		return "", err
	}
	if handled.GetStatus() != model.CommandStatus_COMMAND_SUCCEEDED {
		return "", status.Error(codes.FailedPrecondition, cmp.Or(handled.GetMetadata()["Reason"], "piped refused it"))
	}
	return handled.GetMetadata()["TriggeredDeploymentID"], nil
}

// strategyOf reads the name of a strategy; empty is AUTO.
func strategyOf(name string) (model.SyncStrategy, error) {
	strategy, ok := model.SyncStrategy_value[cmp.Or(name, "AUTO")]
	if !ok {
		return 0, status.Errorf(codes.InvalidArgument, "unknown strategy %q; use AUTO, QUICK_SYNC or PIPELINE", name)
	}
	return model.SyncStrategy(strategy), nil
}

// unknownDeployment says where the ids of deployments are, when one was not found.
func unknownDeployment(err error, id string) error {
	if status.Code(err) != codes.NotFound {
		return err
	}
	return hint(err, "no deployment has the id %q; list them with `pipedeck deployments`", id)
}
