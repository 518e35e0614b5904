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
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/system/clock"
)

// introducePause is the longest time between two introductions to a control plane that is not there; the client
// has tried several times by then.
const introducePause = time.Second

// introduction introduces this piped to the control plane.
type introduction struct {
	controlPlane pipedservice.PipedServiceClient
	piped        *config.Piped
	decrypter    secrets.Decrypter
	version      string
	timer        clock.Timer
	logger       *slog.Logger
}

// send reports who this piped is, which PipeCD v1's does first of all. It goes on trying while the control plane is not
// there, and gives up when it refuses.
func (i introduction) send(ctx context.Context) error {
	piped, backoff := i.piped, clock.NewBackoff(introducePause, introducePause)
	request, err := meta(piped, i.decrypter, i.version)
	if err != nil {
		return err
	}
	i.logger.Info("connecting to the control plane", "address", piped.APIAddress)
	for {
		answer, err := i.controlPlane.ReportPipedMeta(ctx, request)
		switch {
		case err == nil:
			i.logger.Info("connected to the control plane", "address", piped.APIAddress, "name", answer.GetName())
			return nil
		case ctx.Err() != nil:
			return nil
		}
		switch code := status.Code(err); {
		case code == codes.Unauthenticated, code == codes.PermissionDenied:
			return fmt.Errorf("the control plane at %s refused piped %q of project %q: check projectID, pipedID "+
				"and the piped key in the configuration: %w",
				piped.APIAddress, piped.PipedID, piped.ProjectID, err)
		case controlplane.Refused(err):
			return fmt.Errorf("the control plane at %s refused this piped: %w; check that apiAddress names a "+
				"PipeCD control plane", piped.APIAddress, err)
		}
		i.logger.Warn("the control plane does not answer, it is tried again", "address", piped.APIAddress, "error", err)
		if backoff.Wait(ctx, i.timer) != nil {
			return nil
		}
	}
}

func meta(piped *config.Piped, decrypter secrets.Decrypter, version string) (*pipedservice.ReportPipedMetaRequest,
	error) {
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
		request.Repositories = append(request.Repositories,
			&model.ApplicationGitRepository{Id: r.RepoID, Remote: r.Remote, Branch: r.Branch})
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
