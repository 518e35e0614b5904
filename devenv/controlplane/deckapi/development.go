// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

const (
	// connectLimit is the time that a piped has to connect again, such as after DevelopPlugin has had it started again.
	connectLimit = 10 * time.Second
	// takeLimit is the time that a connected piped has to begin with a re-run.
	takeLimit = 15 * time.Second
)

// Develop builds a plugin from a directory and runs it under a name until ctx ends. report may be called by several
// goroutines until Develop returns. Its errors have the codes of gRPC.
type Develop func(ctx context.Context, name, directory string, report func(*deckv1.DevelopPluginResponse)) error

// Development serves the PluginDevelopmentService of users.
type Development struct {
	deckv1.UnimplementedPluginDevelopmentServiceServer
	store   *store.Store
	develop Develop
}

var _ deckv1.PluginDevelopmentServiceServer = (*Development)(nil)

// NewDevelopment returns the service.
func NewDevelopment(s *store.Store) *Development { return &Development{store: s} }

// SetDevelop says how plugins are developed, before anyone calls. Without it, none can be.
func (d *Development) SetDevelop(develop Develop) { d.develop = develop }

// RerunStage asks the piped of the deployment and passes on what it reports.
func (d *Development) RerunStage(
	r *deckv1.RerunStageRequest, stream grpc.ServerStreamingServer[deckv1.RerunStageResponse],
) error {
	deployment, err := d.store.Deployments.Get(r.GetDeploymentId())
	if err != nil {
		return err
	}
	rerun, err := d.ask(stream.Context(), deployment.Model.GetPipedId(), r)
	if err != nil {
		return err
	}
	defer rerun.Close()
	for taken := false; ; taken = true {
		message, err := nextReport(stream.Context(), rerun, taken)
		if err != nil {
			return err
		}
		responses, err := rerunResponses(r, message)
		if err != nil {
			return err
		}
		for _, response := range responses {
			if err := stream.Send(response); err != nil {
				return err
			}
		}
		if message.GetResult() != nil {
			return nil
		}
	}
}

// ask waits for a piped that is being started again.
func (d *Development) ask(ctx context.Context, pipedID string, r *deckv1.RerunStageRequest) (*store.Rerun, error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	changes, _ := d.store.Subscribe(false)
	defer changes.Close()
	for {
		rerun, connected, err := d.store.Reruns.Ask(pipedID, r.GetDeploymentId(), r.GetStageId())
		if err == nil || connected {
			return rerun, err
		}
		if _, lost := changes.Next(ctx); lost != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			changes.Resync() // it was too slow
		}
	}
}

// nextReport returns the next message of a piped. The first one comes at once.
func nextReport(ctx context.Context, rerun *store.Rerun, taken bool) (*agentv1.ReportStageRerunRequest, error) {
	bounded := ctx
	if !taken {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, takeLimit)
		defer cancel()
	}
	message, more := rerun.Next(bounded)
	switch {
	case more:
		return message, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case bounded.Err() != nil:
		return nil, status.Errorf(codes.DeadlineExceeded, "piped did not begin with the re-run within %s", takeLimit)
	}
	return nil, status.Error(codes.FailedPrecondition, "piped has ended, and with it the re-run; see what it does "+
		"with: pipedeck status")
}

// rerunResponses are a message as users see it.
func rerunResponses(r *deckv1.RerunStageRequest, m *agentv1.ReportStageRerunRequest) (
	[]*deckv1.RerunStageResponse, error) {
	switch {
	case m.GetRefusal() != "":
		return nil, status.Error(codes.FailedPrecondition, m.GetRefusal())
	case m.GetBegan() != nil:
		return []*deckv1.RerunStageResponse{{Kind: &deckv1.RerunStageResponse_Began{Began: &deckv1.RerunBegan{
			Plugin: m.GetBegan().GetPlugin(), Build: m.GetBegan().GetBuild()}}}}, nil
	case m.GetResult() != nil:
		return []*deckv1.RerunStageResponse{{Kind: &deckv1.RerunStageResponse_Result{Result: &deckv1.RerunResult{
			Status: stageStatuses[m.GetResult().GetStatus()], Reason: m.GetResult().GetReason(),
			Duration: m.GetResult().GetDuration(), Forgotten: m.GetResult().GetForgotten()}}}}, nil
	}
	var all []*deckv1.RerunStageResponse
	for _, block := range m.GetLog().GetBlocks() {
		shown := logBlock(r.GetDeploymentId(), r.GetStageId(), store.LogBlock{Block: block, Received: time.Now()})
		all = append(all, &deckv1.RerunStageResponse{Kind: &deckv1.RerunStageResponse_Log{Log: shown}})
	}
	return all, nil
}

// DevelopPlugin has the environment develop a plugin until the user leaves.
func (d *Development) DevelopPlugin(
	r *deckv1.DevelopPluginRequest, stream grpc.ServerStreamingServer[deckv1.DevelopPluginResponse],
) error {
	switch {
	case d.develop == nil:
		return status.Error(codes.Unimplemented, "this control plane runs no plugins")
	case r.GetName() == "" || strings.ContainsAny(r.GetName(), "/\\\x00"):
		return status.Errorf(codes.InvalidArgument, "%q is not the name of a plugin", r.GetName())
	case !filepath.IsAbs(r.GetDirectory()):
		return status.Errorf(codes.InvalidArgument, "%q is not an absolute path", r.GetDirectory())
	}
	ctx, cancel := context.WithCancelCause(stream.Context())
	defer cancel(nil)
	var sending sync.Mutex // a stream takes one message at a time
	err := d.develop(ctx, r.GetName(), r.GetDirectory(), func(response *deckv1.DevelopPluginResponse) {
		sending.Lock()
		defer sending.Unlock()
		if err := stream.Send(response); err != nil {
			cancel(err)
		}
	})
	if err == nil {
		err = stream.Context().Err()
	}
	return err
}
