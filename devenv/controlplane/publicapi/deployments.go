// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package publicapi

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	as "github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// GetDeployment answers with a deployment.
func (s *Server) GetDeployment(_ context.Context, r *as.GetDeploymentRequest) (*as.GetDeploymentResponse, error) {
	d, err := s.store.Deployments.Get(r.GetDeploymentId())
	if err != nil {
		return nil, err
	}
	return &as.GetDeploymentResponse{Deployment: d.Model}, nil
}

// ListDeployments answers with a page of deployments, the one updated last in front. Statuses are
// taken with and without "DEPLOYMENT_".
func (s *Server) ListDeployments(_ context.Context, r *as.ListDeploymentsRequest) (*as.ListDeploymentsResponse, error) {
	statuses := make([]model.DeploymentStatus, 0, len(r.GetStatuses()))
	for _, name := range r.GetStatuses() {
		v, ok := model.DeploymentStatus_value["DEPLOYMENT_"+strings.TrimPrefix(strings.ToUpper(name), "DEPLOYMENT_")]
		if !ok {
			return nil, status.Errorf(codes.InvalidArgument, "Invalid deployment status %q", name)
		}
		statuses = append(statuses, model.DeploymentStatus(v))
	}
	for _, name := range r.GetKinds() {
		if _, ok := model.ApplicationKind_value[name]; !ok {
			return nil, status.Errorf(codes.InvalidArgument, "Invalid application kind %q", name)
		}
	}
	match := func(d *model.Deployment) bool {
		return (len(statuses) == 0 || slices.Contains(statuses, d.GetStatus())) &&
			(len(r.GetKinds()) == 0 || slices.Contains(r.GetKinds(), d.GetKind().String())) &&
			(len(r.GetApplicationIds()) == 0 || slices.Contains(r.GetApplicationIds(), d.GetApplicationId())) &&
			(r.GetApplicationName() == "" || d.GetApplicationName() == r.GetApplicationName()) &&
			store.HasLabels(d.GetLabels(), r.GetLabels())
	}
	page, cursor, err := paginate(r.GetLimit(), r.GetCursor(),
		func(after store.Position, b store.Bounds) ([]*model.Deployment, bool) {
			return s.store.Deployments.List(match, after, b)
		})
	return reply(&as.ListDeploymentsResponse{Deployments: page, Cursor: cursor}, err)
}

// ListStageLogs answers with the logs of all stages of a deployment.
func (s *Server) ListStageLogs(_ context.Context, r *as.ListStageLogsRequest) (*as.ListStageLogsResponse, error) {
	blocks, completed, err := s.store.Deployments.StageLogs(r.GetDeploymentId())
	if err != nil {
		return nil, err
	}
	logs := make(map[string]*as.StageLog, len(blocks))
	for id := range blocks {
		logs[id] = &as.StageLog{Blocks: blocks[id], Completed: completed[id]}
	}
	return &as.ListStageLogsResponse{StageLogs: logs}, nil
}

// GetCommand answers with a command.
func (s *Server) GetCommand(_ context.Context, r *as.GetCommandRequest) (*as.GetCommandResponse, error) {
	c, _, err := s.store.Commands.Get(r.GetCommandId())
	return reply(&as.GetCommandResponse{Command: c}, err)
}

// RegisterEvent stores an event for the event watchers.
func (s *Server) RegisterEvent(_ context.Context, r *as.RegisterEventRequest) (*as.RegisterEventResponse, error) {
	id, err := s.store.Events.Register(&model.Event{
		Name: r.GetName(), Data: r.GetData(), Labels: r.GetLabels(), Contexts: r.GetContexts(),
		TriggerCommitHash: r.GetCommitHash(),
	}, eventCommit(r))
	return reply(&as.RegisterEventResponse{EventId: id}, err)
}

// eventCommit returns the commit that an event is registered for; nil for none. Title and message become one text, as
// Git has them.
func eventCommit(r *as.RegisterEventRequest) *model.Commit {
	if r.GetCommitHash() == "" {
		return nil
	}
	message := r.GetCommitTitle()
	if body := r.GetCommitMessage(); body != "" && body != message {
		if message != "" && !strings.HasPrefix(body, message) {
			body = message + "\n\n" + body
		}
		message = body
	}
	return &model.Commit{
		Hash: r.GetCommitHash(), Message: message, Author: r.GetCommitAuthor(), Url: r.GetCommitUrl(),
		CreatedAt: r.GetCommitTimestamp(),
	}
}
