// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	imagev1 "github.com/pipedeck/pipedeck/api/image/v1"
)

// builtRegistry is the registry of the images that the image service builds.
const builtRegistry = "pipedeck.dev"

// provideHead brings the images that the applications name now to every cluster, under the names as
// they are written: plugins that do not know the image API find them, and others need not wait for
// them. It is of use only, so a failure is logged; whoever needs the image gets the error, too.
func (e *Environment) provideHead(ctx context.Context, apiKey string) {
	if err := e.tryProvideHead(ctx, apiKey); err != nil && ctx.Err() == nil {
		e.Logger.Warn("not every image of the repository could be provided beforehand", "error", err)
	}
}

func (e *Environment) tryProvideHead(ctx context.Context, apiKey string) (err error) {
	repository := e.repository.Load()
	images, err := repository.ImagesAtHead(builtRegistry)
	if err != nil || len(images) == 0 || len(e.clusters) == 0 {
		return err
	}
	// An environment that was killed may have left one.
	if err := e.Workspace.RemoveHead(); err != nil {
		return err
	}
	dir, err := e.Workspace.CreateHead(repository.Head)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Workspace.RemoveHead()) }()
	if err := repository.ExportHead(dir); err != nil {
		return err
	}
	conn, err := grpc.NewClient("passthrough:///"+e.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "API-KEY "+apiKey)
	// One cluster that takes long, or no images at all, does not hold up the others.
	var clusters errgroup.Group
	for _, name := range e.clusters.names() {
		clusters.Go(func() error {
			return provide(ctx, imagev1.NewImageServiceClient(conn),
				&imagev1.ProvideRequest{Directory: dir, Images: images, Target: name})
		})
	}
	return clusters.Wait()
}

func provide(ctx context.Context, service imagev1.ImageServiceClient, req *imagev1.ProvideRequest) error {
	stream, err := service.Provide(ctx, req)
	for err == nil {
		_, err = stream.Recv()
	}
	if errors.Is(err, io.EOF) || status.Code(err) == codes.Unimplemented {
		return nil
	}
	return fmt.Errorf("deploy target %s: %w", req.GetTarget(), err)
}
