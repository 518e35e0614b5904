// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package decktest

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// actions are the calls of a deck server that act. They note the request.
type actions struct {
	deckv1.UnimplementedDeckServiceServer
	note func(context.Context, proto.Message) error
}

// SyncApplication notes the call.
func (a *actions) SyncApplication(ctx context.Context,
	r *deckv1.SyncApplicationRequest) (*deckv1.SyncApplicationResponse, error) {
	return &deckv1.SyncApplicationResponse{}, a.note(ctx, r)
}

// ApproveStage notes the call.
func (a *actions) ApproveStage(ctx context.Context,
	r *deckv1.ApproveStageRequest) (*deckv1.ApproveStageResponse, error) {
	return &deckv1.ApproveStageResponse{}, a.note(ctx, r)
}

// RemoveApplication notes the call.
func (a *actions) RemoveApplication(ctx context.Context,
	r *deckv1.RemoveApplicationRequest) (*deckv1.RemoveApplicationResponse, error) {
	return &deckv1.RemoveApplicationResponse{}, a.note(ctx, r)
}

// SkipStage notes the call.
func (a *actions) SkipStage(ctx context.Context, r *deckv1.SkipStageRequest) (*deckv1.SkipStageResponse, error) {
	return &deckv1.SkipStageResponse{}, a.note(ctx, r)
}

// ContinueStage notes the call.
func (a *actions) ContinueStage(
	ctx context.Context, r *deckv1.ContinueStageRequest,
) (*deckv1.ContinueStageResponse, error) {
	return &deckv1.ContinueStageResponse{}, a.note(ctx, r)
}

// ChangeBreakpoints notes the call.
func (a *actions) ChangeBreakpoints(
	ctx context.Context, r *deckv1.ChangeBreakpointsRequest,
) (*deckv1.ChangeBreakpointsResponse, error) {
	return &deckv1.ChangeBreakpointsResponse{}, a.note(ctx, r)
}

// CancelDeployment notes the call.
func (a *actions) CancelDeployment(ctx context.Context,
	r *deckv1.CancelDeploymentRequest) (*deckv1.CancelDeploymentResponse, error) {
	return &deckv1.CancelDeploymentResponse{}, a.note(ctx, r)
}

// RetryDeployment notes the call.
func (a *actions) RetryDeployment(ctx context.Context,
	r *deckv1.RetryDeploymentRequest) (*deckv1.RetryDeploymentResponse, error) {
	return &deckv1.RetryDeploymentResponse{}, a.note(ctx, r)
}

// RollBackApplication notes the call.
func (a *actions) RollBackApplication(ctx context.Context,
	r *deckv1.RollBackApplicationRequest) (*deckv1.RollBackApplicationResponse, error) {
	return &deckv1.RollBackApplicationResponse{}, a.note(ctx, r)
}

// RestartPlugin notes the call.
func (a *actions) RestartPlugin(ctx context.Context, r *deckv1.RestartPluginRequest) (*deckv1.RestartPluginResponse,
	error) {
	return &deckv1.RestartPluginResponse{}, a.note(ctx, r)
}

// LookAtApplication notes the call.
func (a *actions) LookAtApplication(ctx context.Context,
	r *deckv1.LookAtApplicationRequest) (*deckv1.LookAtApplicationResponse, error) {
	return &deckv1.LookAtApplicationResponse{Took: durationpb.New(time.Second)}, a.note(ctx, r)
}

// OpenApplication notes the call.
func (a *actions) OpenApplication(ctx context.Context,
	r *deckv1.OpenApplicationRequest) (*deckv1.OpenApplicationResponse, error) {
	return &deckv1.OpenApplicationResponse{Url: "http://127.0.0.1:34567",
		Detail: "Service default/hello-world, port http, 2 of 2 pods ready"}, a.note(ctx, r)
}
