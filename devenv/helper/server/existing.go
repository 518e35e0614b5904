// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	helperv1 "github.com/pipedeck/pipedeck/api/helper/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/existing"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind"
	"github.com/pipedeck/pipedeck/devenv/helper"
)

// CheckContext implements helperv1.HelperServiceServer.
func (s *Server) CheckContext(
	_ context.Context, r *helperv1.CheckContextRequest,
) (*helperv1.CheckContextResponse, error) {
	_, err := find(r.GetContext())
	return &helperv1.CheckContextResponse{}, helper.Encode(err)
}

// find returns a context that may be used. Its errors are the user's to correct.
func find(c *helperv1.Context) (*existing.Context, error) {
	found, err := existing.Find(c.GetFile(), c.GetName())
	if err == nil && !c.GetAny() {
		err = found.Check()
	}
	return found, usage(err)
}

// usage marks an error as one of the user's input.
func usage(err error) error {
	if err == nil {
		return nil
	}
	marked := &cluster.HintError{Err: err, Usage: true}
	if hinted := (*cluster.HintError)(nil); errors.As(err, &hinted) {
		marked.Hint = hinted.Hint
	}
	return marked
}

// RunExisting implements helperv1.HelperServiceServer.
func (s *Server) RunExisting(
	stream grpc.BidiStreamingServer[helperv1.RunExistingRequest, helperv1.ClusterEvent],
) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	found, err := find(request.GetContext())
	if err != nil {
		return helper.Encode(err)
	}
	to := &reporter{send: stream.Send}
	provider := existing.New(existing.Config{Context: found, Kubeconfig: request.GetKubeconfig(), Logger: s.logger})
	return to.run(stream.Context(), provider, func() error {
		_, err := stream.Recv()
		return err
	})
}

// loadIntoContext loads an image into the cluster of a context that is one of kind's.
func loadIntoContext(ctx context.Context, c *helperv1.Context, archive string, references []string) error {
	found, err := existing.Find(c.GetFile(), c.GetName())
	if err != nil {
		return err
	}
	provider := existing.New(existing.Config{Context: found, LoadIntoKind: kind.LoadInto})
	return provider.LoadImage(ctx, cluster.Image{Archive: archive, References: references})
}
