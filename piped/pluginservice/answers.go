// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"

	"github.com/pipedeck/pipedeck/api/model"
)

// Keys of shared metadata that is not kept: piped answers as things are when a plugin asks.
const (
	// ApplicationsMetadataKey holds the applications of this piped as a JSON list of KnownApplication.
	ApplicationsMetadataKey = "pipedeck/applications"
	// InGitMetadataKey holds the commit at the head of the branch that has the configuration of the application; there
	// is none while the application is deleted in Git.
	InGitMetadataKey = "pipedeck/in-git"
	// HeadMetadataKey holds a Head as JSON: the repository at the head of the branch, which is looked for again. Its
	// directory stays while a stage of the deployment runs.
	HeadMetadataKey = "pipedeck/head"
)

// Head is the repository of an application at the head of the branch.
type Head struct {
	Commit string `json:"commit"`
	// Directory is that of the repository, absolute.
	Directory string `json:"directory"`
}

// KnownApplication is what plugins learn of an application of this piped.
type KnownApplication struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Repository is the id of the repository in the configuration of piped.
	Repository string `json:"repository"`
	// File is the configuration of the application, relative to the repository.
	File string `json:"file"`
	// Targets are the deploy targets by the names of their plugins.
	Targets map[string][]string `json:"targets"`
}

// Answer answers a question of a plugin about a deployment, of which only the ids, the name and the Git path are set.
type Answer func(ctx context.Context, d *model.Deployment) (value string, found bool, err error)

// described copies what an Answer gets.
func described(d *model.Deployment) *model.Deployment {
	return &model.Deployment{
		Id: d.GetId(), ApplicationId: d.GetApplicationId(), ApplicationName: d.GetApplicationName(),
		GitPath: d.GetGitPath(),
	}
}
