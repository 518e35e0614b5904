// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
	"github.com/pipedeck/pipedeck/piped/source"
)

// answers are what plugins may ask piped while they run a stage. inGit returns the commit at the head of the branch
// that has the application of a deployment; empty when it has not. head lends the repository there.
func answers(client pipedservice.PipedServiceClient, inGit func(context.Context, *model.Deployment) (string, error),
	head func(context.Context, *model.Deployment) (*source.Source, error)) map[string]pluginservice.Answer {
	return map[string]pluginservice.Answer{
		pluginservice.ApplicationsMetadataKey: func(ctx context.Context, _ *model.Deployment) (string, bool, error) {
			listed, err := client.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
			if err != nil {
				return "", false, fmt.Errorf("list the applications: %w", err)
			}
			data, err := json.Marshal(knownApplications(listed.GetApplications()))
			return string(data), true, err
		},
		pluginservice.InGitMetadataKey: func(ctx context.Context, d *model.Deployment) (string, bool, error) {
			commit, err := inGit(ctx, d)
			return commit, commit != "", err
		},
		pluginservice.HeadMetadataKey: func(ctx context.Context, d *model.Deployment) (string, bool, error) {
			at, err := head(ctx, d)
			if err != nil {
				return "", false, err
			}
			data, err := json.Marshal(pluginservice.Head{Commit: at.Commit, Directory: at.RepositoryDirectory})
			return string(data), true, err
		},
	}
}

func knownApplications(listed []*model.Application) []pluginservice.KnownApplication {
	known := make([]pluginservice.KnownApplication, 0, len(listed))
	for _, a := range listed {
		targets := map[string][]string{}
		for plugin, of := range a.GetDeployTargetsByPlugin() {
			targets[plugin] = of.GetDeployTargets()
		}
		place := a.GetGitPath()
		known = append(known, pluginservice.KnownApplication{
			ID: a.GetId(), Name: a.GetName(), Repository: place.GetRepo().GetId(), Targets: targets,
			File: path.Join(place.GetPath(), cmp.Or(place.GetConfigFilename(), config.DefaultApplicationFilename)),
		})
	}
	return known
}
