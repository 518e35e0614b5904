// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	agent "github.com/pipedeck/pipedeck/piped/controlplane"
)

// TestTheAgentListsWhateverTheControlPlaneHolds has our client read lists that no single message could carry.
func TestTheAgentListsWhateverTheControlPlaneHolds(t *testing.T) {
	t.Parallel()
	server, err := controlplane.New(controlplane.Config{ProjectID: "p", PipedID: "piped", PipedName: "piped",
		PipedKey: "k", APIKey: "id.secret"})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Run(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-served)
	})
	client, err := agent.Dial(agent.Options{Address: listener.Addr().String(), ProjectID: "p", PipedID: "piped",
		Key: []byte("k"), Insecure: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })

	path := func(name string) *model.ApplicationGitPath {
		return &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "r", Remote: "/r", Branch: "b"},
			Path: name, ConfigFilename: "app.pipecd.yaml"}
	}
	for i := range 2100 {
		name := fmt.Sprint("app-", i)
		server.ImportApplication(&model.Application{
			Id: name, Name: name, PipedId: "piped", ProjectId: "p", GitPath: path(name),
			Description: strings.Repeat("x", 6000), CreatedAt: 1, UpdatedAt: 1,
		})
	}
	listed, err := client.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
	require.Len(t, listed.GetApplications(), 2100, "12 MiB of applications")

	for i := range 5 {
		id := fmt.Sprint("d", i)
		_, err := client.CreateDeployment(ctx, &pipedservice.CreateDeploymentRequest{Deployment: &model.Deployment{
			Id: id, ApplicationId: "app-1", ApplicationName: "app-1", PipedId: "piped", ProjectId: "p",
			GitPath: path("app-1"), CreatedAt: 1, UpdatedAt: 1,
			Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: "h", Message: "m", Author: "a", Branch: "b",
				CreatedAt: 1}, Timestamp: 1},
		}})
		require.NoError(t, err)
		_, err = client.ReportDeploymentPlanned(ctx, &pipedservice.ReportDeploymentPlannedRequest{
			DeploymentId: id, Stages: []*model.PipelineStage{{Id: "s", Name: "WAIT", CreatedAt: 1, UpdatedAt: 1}},
		})
		require.NoError(t, err)
		_, err = client.SaveStageMetadata(ctx, &pipedservice.SaveStageMetadataRequest{
			DeploymentId: id, StageId: "s", Metadata: map[string]string{"k": strings.Repeat("x", 2_900_000)},
		})
		require.NoError(t, err)
	}
	open, err := agent.OpenDeployments(ctx, client)
	require.NoError(t, err)
	require.Len(t, open, 5, "14 MiB of deployments")
	require.Len(t, open[4].GetStages()[0].GetMetadata()["k"], 2_900_000)
}
