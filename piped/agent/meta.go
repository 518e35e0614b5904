// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/secrets"
)

// introducePause is the time between two introductions to a control plane that is not there; the client
// has tried several times by then.
const introducePause = time.Second

// introduce tells the control plane who this piped is, which PipeCD v1's does first of all. It goes on
// trying while the control plane is not there, and gives up when it refuses.
func introduce(ctx context.Context, controlPlane pipedservice.PipedServiceClient, piped *config.Piped, decrypter secrets.Decrypter, version string, logger *slog.Logger) error {
	request, err := meta(piped, decrypter, version)
	if err != nil {
		return err
	}
	for {
		answer, err := controlPlane.ReportPipedMeta(ctx, request)
		switch {
		case err == nil:
			logger.Info("connected to the control plane", "address", piped.APIAddress, "name", answer.GetName())
			return nil
		case ctx.Err() != nil:
			return nil
		}
		switch status.Code(err) {
		case codes.Unauthenticated, codes.PermissionDenied:
			return fmt.Errorf("the control plane at %s refused piped %q of project %q: check projectID, pipedID and the piped key in the configuration: %w",
				piped.APIAddress, piped.PipedID, piped.ProjectID, err)
		case codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.Unimplemented:
			return fmt.Errorf("the control plane at %s refused this piped: %w; check that apiAddress names a PipeCD control plane", piped.APIAddress, err)
		}
		logger.Warn("the control plane does not answer, it is tried again", "address", piped.APIAddress, "error", err)
		timer := time.NewTimer(introducePause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

func meta(piped *config.Piped, decrypter secrets.Decrypter, version string) (*pipedservice.ReportPipedMetaRequest, error) {
	masked, err := piped.MaskedYAML()
	if err != nil {
		return nil, err
	}
	request := &pipedservice.ReportPipedMetaRequest{
		Version:          version,
		Config:           masked,
		SecretEncryption: encryption(decrypter),
	}
	for _, r := range piped.Repositories {
		request.Repositories = append(request.Repositories, &model.ApplicationGitRepository{Id: r.RepoID, Remote: r.Remote, Branch: r.Branch})
	}
	for _, p := range piped.Plugins {
		plugin := &model.Piped_Plugin{Name: p.Name}
		for _, t := range p.DeployTargets {
			plugin.DeployTargets = append(plugin.DeployTargets, t.Name)
		}
		request.Plugins = append(request.Plugins, plugin)
	}
	return request, nil
}
