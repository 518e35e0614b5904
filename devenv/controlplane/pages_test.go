// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// pipedTakes is what PipeCD's piped and ours take in one message, pipectlTakes what pipectl does.
const (
	pipedTakes   = 10 << 20
	pipectlTakes = 4 << 20
)

// deploy creates a deployment with a stage that has so many bytes of metadata.
func (p *plane) deploy(t *testing.T, id string, metadata int) {
	t.Helper()
	ctx := testContext(t)
	_, err := p.piped.CreateDeployment(ctx, &pipedservice.CreateDeploymentRequest{Deployment: &model.Deployment{
		Id: id, ApplicationId: "app", ApplicationName: "app", PipedId: pipedID, ProjectId: project, CreatedAt: 1,
		UpdatedAt: 1,
		GitPath:   &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo"}, Path: "app"},
		Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: "h", Message: "m", Author: "a", Branch: "b",
			CreatedAt: 1}, Timestamp: 1},
	}})
	require.NoError(t, err)
	_, err = p.piped.ReportDeploymentPlanned(ctx, &pipedservice.ReportDeploymentPlannedRequest{
		DeploymentId: id, Stages: []*model.PipelineStage{{Id: "s", Name: "WAIT", CreatedAt: 1, UpdatedAt: 1}},
	})
	require.NoError(t, err)
	_, err = p.piped.SaveStageMetadata(ctx, &pipedservice.SaveStageMetadataRequest{
		DeploymentId: id, StageId: "s", Metadata: map[string]string{"k": strings.Repeat("x", metadata)},
	})
	require.NoError(t, err)
}

func TestOpenDeploymentsOfAnySizeAreListedInPages(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication("app", "app")
	const each = 2_900_000
	for i := range 7 {
		p.deploy(t, fmt.Sprint("d", i), each)
	}
	ctx := testContext(t)
	_, err := p.piped.SaveStageMetadata(ctx, &pipedservice.SaveStageMetadataRequest{
		DeploymentId: "d0", StageId: "s", Metadata: map[string]string{"more": strings.Repeat("x", each)},
	})
	requireCode(t, codes.InvalidArgument, err)
	require.ErrorContains(t, err, "at most 3145728 are kept")

	var ids []string
	pages, cursor := 0, ""
	for {
		r, err := p.piped.ListNotCompletedDeployments(ctx,
			&pipedservice.ListNotCompletedDeploymentsRequest{Cursor: cursor})
		require.NoError(t, err)
		require.Less(t, proto.Size(r), pipedTakes)
		for _, d := range r.GetDeployments() {
			ids = append(ids, d.GetId())
			require.Len(t, d.GetStages()[0].GetMetadata()["k"], each)
		}
		pages++
		if cursor = r.GetCursor(); cursor == "" {
			break
		}
		if pages == 1 { // it ends between the pages
			_, err := p.piped.ReportDeploymentCompleted(ctx, &pipedservice.ReportDeploymentCompletedRequest{
				DeploymentId: "d0", Status: model.DeploymentStatus_DEPLOYMENT_SUCCESS, CompletedAt: 1,
			})
			require.NoError(t, err)
		}
	}
	require.Equal(t, []string{"d0", "d1", "d2", "d3", "d4", "d5", "d6"}, ids)
	require.Equal(t, 4, pages)
	_, err = p.piped.ListNotCompletedDeployments(ctx,
		&pipedservice.ListNotCompletedDeploymentsRequest{Cursor: "nonsense"})
	requireCode(t, codes.InvalidArgument, err)

	shown := 0
	for cursor, again := "", true; again; again = cursor != "" {
		r, err := p.api.ListDeployments(ctx, &apiservice.ListDeploymentsRequest{Limit: 100, Cursor: cursor})
		require.NoError(t, err)
		require.Less(t, proto.Size(r), pipectlTakes)
		shown += len(r.GetDeployments())
		cursor = r.GetCursor()
	}
	require.Equal(t, 7, shown)
}

func TestApplicationsAndEventsAreListedInPages(t *testing.T) {
	t.Parallel()
	p := start(t)
	ctx := testContext(t)
	for i := range 2500 {
		p.importApplication(fmt.Sprintf("id-%04d", i), fmt.Sprintf("app-%04d", i))
	}
	var names []string
	for cursor, again := "", true; again; again = cursor != "" {
		r, err := p.agent.PageApplications(ctx, &agentv1.PageApplicationsRequest{Cursor: cursor})
		require.NoError(t, err)
		require.LessOrEqual(t, len(r.GetApplications()), 1000)
		for _, a := range r.GetApplications() {
			names = append(names, a.GetName())
		}
		cursor = r.GetCursor()
	}
	require.Len(t, names, 2500)
	require.IsIncreasing(t, names)
	whole, err := p.piped.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
	require.Len(t, whole.GetApplications(), 2500, "PipeCD's piped asks once")

	for i := range 300 {
		_, err := p.api.RegisterEvent(ctx, &apiservice.RegisterEventRequest{Name: fmt.Sprint("e", i),
			Data: strings.Repeat("x", 60_000)})
		require.NoError(t, err)
	}
	_, err = p.api.RegisterEvent(ctx, &apiservice.RegisterEventRequest{Name: "e", Data: strings.Repeat("x", 1<<20)})
	requireCode(t, codes.InvalidArgument, err)
	list := &pipedservice.ListEventsRequest{Order: pipedservice.ListOrder_DESC,
		Status: pipedservice.ListEventsRequest_NOT_HANDLED}
	var events []string
	for cursor, again := "", true; again; again = cursor != "" {
		r, err := p.agent.PageEvents(ctx, &agentv1.PageEventsRequest{List: list, Cursor: cursor})
		require.NoError(t, err)
		require.Less(t, proto.Size(r), pipedTakes)
		for _, e := range r.GetEvents() {
			events = append(events, e.GetName())
		}
		cursor = r.GetCursor()
	}
	require.Len(t, events, 300)
	require.Equal(t, "e299", events[0])
	require.Equal(t, "e0", events[299])
	first, err := p.piped.ListEvents(ctx, list)
	require.NoError(t, err)
	require.Less(t, proto.Size(first), pipedTakes)
	require.Equal(t, "e299", first.GetEvents()[0].GetName(), "the newest come first")
}
