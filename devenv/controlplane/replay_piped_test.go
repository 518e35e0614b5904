// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
)

// TestARecordedPipedGetsTheSameCodes makes all recorded calls of PipeCD's piped, and then asks for what they have
// reported. The recordings with commands of users, a2 and a4, are played by separate tests.
func TestARecordedPipedGetsTheSameCodes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a0-start-up", "a1-wait-script", "a1b-sync-command", "a3-failure-rollback", "a5-stage-timeout",
		"a7-livestate-drift", "a7b-livestate-stage-only",
		"a8-event-watcher", "a9-polls", "b1-analysis", "b2-k8s-no-target", "b3-k8s-quicksync", "b4-k8s-canary",
		"b7-k8s-kustomize",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := shared(t, name)
			requests := make([]proto.Message, len(calls))
			for i, c := range calls {
				requests[i] = newReplayer(t).request(c)
			}
			identity := identityIn(requests)
			p := start(t, func(c *controlplane.Config) { c.PipedID = identity })
			conn := dial(t, p.address, "PIPED-TOKEN "+project+","+identity+","+pipedKey)
			piped := pipedservice.NewPipedServiceClient(conn)
			for _, a := range applicationsIn(requests, identity) {
				p.server.ImportApplication(a)
			}
			newReplayer(t).play(conn, calls[:1], nil) // piped has introduced itself in one recording only
			_, err := piped.ReportPipedMeta(testContext(t), &pipedservice.ReportPipedMetaRequest{
				Version: "v0", Repositories: []*model.ApplicationGitRepository{{Id: "repo1",
					Remote: "file:///srv/repo.git", Branch: "main"}},
			})
			require.NoError(t, err)
			r := newReplayer(t)
			r.play(conn, calls[1:], p.eventsBefore(t, r, piped, calls))
			requireLastDeployments(t, piped, requests)
			states := map[string]model.ApplicationSyncStatus{}
			for _, request := range requests {
				requireKept(t, piped, request)
				if s, is := request.(*pipedservice.ReportApplicationSyncStateRequest); is {
					states[s.GetApplicationId()] = s.GetState().GetStatus()
				}
			}
			for id, status := range states {
				got, err := p.api.GetApplication(testContext(t), &apiservice.GetApplicationRequest{ApplicationId: id})
				require.NoError(t, err)
				require.Equal(t, status, got.GetApplication().GetSyncState().GetStatus())
			}
		})
	}
}

// shared reads what piped asked the control plane in a recording of api/testdata/recordings. All calls are numbered
// again.
func shared(t *testing.T, name string) []recorded {
	t.Helper()
	var calls []recorded
	for _, c := range recording(t, filepath.Join("../../../api/testdata/recordings", name)) {
		if c.Link == "piped>cp" {
			c.Seq = len(calls) + 1
			calls = append(calls, c)
		}
	}
	return calls
}

// identityIn finds the id of the piped that was recorded.
func identityIn(requests []proto.Message) string {
	for _, request := range requests {
		switch r := request.(type) {
		case *pipedservice.CreateDeploymentRequest:
			return r.GetDeployment().GetPipedId()
		case *pipedservice.ReportApplicationLiveStateRequest:
			return r.GetSnapshot().GetPipedId()
		}
	}
	return pipedID
}

// applicationsIn are those that the calls are about; with PipeCD, users had registered them before.
func applicationsIn(requests []proto.Message, identity string) []*model.Application {
	var list []*model.Application
	known := map[string]bool{}
	add := func(id, name string) {
		if !known[id] {
			known[id] = true
			list = append(list, &model.Application{
				Id: id, Name: name, PipedId: identity, ProjectId: project, CreatedAt: 1, UpdatedAt: 1,
				GitPath: &model.ApplicationGitPath{
					Repo: &model.ApplicationGitRepository{Id: "repo1", Remote: "file:///srv/repo.git", Branch: "main"},
					Path: name, ConfigFilename: "app.pipecd.yaml",
				},
			})
		}
	}
	for _, request := range requests {
		switch r := request.(type) {
		case *pipedservice.CreateDeploymentRequest:
			add(r.GetDeployment().GetApplicationId(), r.GetDeployment().GetApplicationName())
		case *pipedservice.UpdateApplicationConfigurationsRequest:
			for _, a := range r.GetApplications() {
				add(a.GetId(), a.GetName())
			}
		case interface{ GetApplicationId() string }:
			add(r.GetApplicationId(), "app")
		case *pipedservice.ReportApplicationLiveStateRequest:
			add(r.GetSnapshot().GetApplicationId(), "app")
		}
	}
	return list
}

// eventsBefore registers an event when the recorded list has one.
func (p *plane) eventsBefore(
	t *testing.T, r *replayer, piped pipedservice.PipedServiceClient, calls []recorded,
) func(int) {
	return func(seq int) {
		c := calls[seq-1]
		if !strings.HasSuffix(c.Method, "/ListEvents") || c.Resp == "" {
			return
		}
		var answer pipedservice.ListEventsResponse
		r.decode(c.Resp, &answer)
		for _, e := range answer.GetEvents() {
			got, err := p.api.RegisterEvent(testContext(t), &apiservice.RegisterEventRequest{
				Name: e.GetName(), Data: e.GetData(), Labels: e.GetLabels(), Contexts: e.GetContexts(),
			})
			require.NoError(t, err)
			r.pair(e.GetId(), got.GetEventId())
			list, err := piped.ListEvents(testContext(t), r.request(c).(*pipedservice.ListEventsRequest))
			require.NoError(t, err)
			require.Len(t, list.GetEvents(), 1)
			requireSame(t, c, e, list.GetEvents()[0])
		}
	}
}

// requireKept wants what was reported to be there afterwards.
func requireKept(t *testing.T, piped pipedservice.PipedServiceClient, request proto.Message) {
	t.Helper()
	ctx := testContext(t)
	switch r := request.(type) {
	case *pipedservice.CreateDeploymentRequest:
		got, err := piped.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: r.GetDeployment().GetId()})
		require.NoError(t, err, "ids are accepted as given")
		require.True(t, proto.Equal(r.GetDeployment().GetTrigger().GetCommit(),
			got.GetDeployment().GetTrigger().GetCommit()))
		require.True(t, proto.Equal(r.GetDeployment().GetGitPath(), got.GetDeployment().GetGitPath()))
	case *pipedservice.ReportDeploymentPlannedRequest:
		got, err := piped.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: r.GetDeploymentId()})
		require.NoError(t, err)
		require.Equal(t, r.GetRunningCommitHash(), got.GetDeployment().GetRunningCommitHash())
		require.Equal(t, r.GetRunningConfigFilename(), got.GetDeployment().GetRunningConfigFilename())
		require.Len(t, got.GetDeployment().GetStages(), len(r.GetStages()))
	case *pipedservice.ReportDeploymentCompletedRequest:
		got, err := piped.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: r.GetDeploymentId()})
		require.NoError(t, err)
		require.Equal(t, r.GetStatus(), got.GetDeployment().GetStatus())
		for _, s := range got.GetDeployment().GetStages() {
			require.Equal(t, r.GetStageStatuses()[s.GetId()], s.GetStatus(), s.GetName())
		}
	case *pipedservice.SaveStageMetadataRequest:
		got, err := piped.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: r.GetDeploymentId()})
		require.NoError(t, err)
		for _, s := range got.GetDeployment().GetStages() {
			if s.GetId() == r.GetStageId() {
				for key, value := range r.GetMetadata() {
					require.Equal(t, value, s.GetMetadata()[key])
				}
			}
		}
	case *pipedservice.PutApplicationSharedObjectRequest:
		got, err := piped.GetApplicationSharedObject(ctx,
			&pipedservice.GetApplicationSharedObjectRequest{ApplicationId: r.GetApplicationId(),
				PluginName: r.GetPluginName(), Key: r.GetKey()})
		require.NoError(t, err)
		require.Equal(t, r.GetObject(), got.GetObject())
	}
}

// requireLastDeployments wants the answers from which piped takes what is running to be the last reports of each kind.
func requireLastDeployments(t *testing.T, piped pipedservice.PipedServiceClient, requests []proto.Message) {
	t.Helper()
	type kind struct {
		application string
		status      model.DeploymentStatus
	}
	last := map[kind]*model.ApplicationDeploymentReference{}
	for _, request := range requests {
		if r, is := request.(*pipedservice.ReportApplicationMostRecentDeploymentRequest); is {
			last[kind{r.GetApplicationId(), r.GetStatus()}] = r.GetDeployment()
		}
	}
	for of, reported := range last {
		got, err := piped.GetApplicationMostRecentDeployment(testContext(t),
			&pipedservice.GetApplicationMostRecentDeploymentRequest{ApplicationId: of.application, Status: of.status})
		require.NoError(t, err)
		require.True(t, proto.Equal(reported, got.GetDeployment()), "%s of %s: reported %s, kept %s", of.status,
			of.application, reported, got.GetDeployment())
	}
}
