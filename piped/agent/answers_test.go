// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
	"github.com/pipedeck/pipedeck/piped/source"
)

// lister is a control plane with one application.
type lister struct {
	pipedservice.PipedServiceClient
}

func (lister) ListApplications(context.Context, *pipedservice.ListApplicationsRequest,
	...grpc.CallOption) (*pipedservice.ListApplicationsResponse, error) {
	return &pipedservice.ListApplicationsResponse{Applications: []*model.Application{{
		Id: "a1", Name: "shop", GitPath: &model.ApplicationGitPath{
			Repo: &model.ApplicationGitRepository{Id: "main"}, Path: "apps/shop"},
		DeployTargetsByPlugin: map[string]*model.DeployTargets{"kubernetes": {DeployTargets: []string{"local"}}},
	}}}, nil
}

func TestPluginsLearnWhichApplicationsPipedHas(t *testing.T) {
	t.Parallel()
	value, found, err := answers(lister{}, nil, nil)[pluginservice.ApplicationsMetadataKey](t.Context(), nil)
	require.NoError(t, err)
	require.True(t, found)
	require.JSONEq(t, `[{"id": "a1", "name": "shop", "repository": "main", "file": "apps/shop/app.pipecd.yaml",
		"targets": {"kubernetes": ["local"]}}]`, value)
}

func TestPluginsLearnWhetherAnApplicationIsInGit(t *testing.T) {
	t.Parallel()
	for commit, in := range map[string]bool{"": false, "abc": true} {
		inGit := func(context.Context, *model.Deployment) (string, error) { return commit, nil }
		value, found, err := answers(lister{}, inGit, nil)[pluginservice.InGitMetadataKey](t.Context(),
			&model.Deployment{})
		require.NoError(t, err)
		require.Equal(t, in, found)
		require.Equal(t, commit, value)
	}
}

func TestPluginsGetTheRepositoryAtTheHead(t *testing.T) {
	t.Parallel()
	head := func(context.Context, *model.Deployment) (*source.Source, error) {
		return &source.Source{Commit: "abc", RepositoryDirectory: "/sources/1"}, nil
	}
	value, found, err := answers(lister{}, nil, head)[pluginservice.HeadMetadataKey](t.Context(), &model.Deployment{})
	require.NoError(t, err)
	require.True(t, found)
	require.JSONEq(t, `{"commit": "abc", "directory": "/sources/1"}`, value)
}
