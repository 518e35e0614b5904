// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func liveState(application string, health model.ResourceState_HealthStatus) *model.ApplicationLiveStateSnapshot {
	return &model.ApplicationLiveStateSnapshot{
		ApplicationId: application,
		ApplicationLiveState: &model.ApplicationLiveState{
			Resources: []*model.ResourceState{{Id: "r", HealthStatus: health}},
		},
	}
}

func TestALiveStateWakesItsReadersAndShowsInTheApplication(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	_, err := s.LiveStates.Get("a")
	requireCode(t, codes.NotFound, err)
	live, err := s.LiveStates.Resources("a")
	require.NoError(t, err)
	require.Empty(t, live.List)

	sub, _ := s.Subscribe(false)
	defer sub.Close()
	unhealthy := liveState("a", model.ResourceState_UNHEALTHY)
	require.NoError(t, s.LiveStates.Report(piped, unhealthy))
	requireClosed(t, live.News)
	require.NoError(t, s.LiveStates.Report(piped, unhealthy))
	changes, err := sub.Next(t.Context())
	require.NoError(t, err)
	require.Len(t, changes, 1, "the second report changed nothing that the application shows")
	require.Equal(t, model.ApplicationLiveState_OTHER, changes[0].Application.Health)
	counts := changes[0].Application.Counts
	require.Equal(t, []uint32{1, 1, 0, 0}, []uint32{counts.Total, counts.Unhealthy, counts.Unknown, counts.Drifted})
	require.NotEmpty(t, counts.Worst)

	requireCode(t, codes.PermissionDenied, s.LiveStates.Report("another", unhealthy))
	requireCode(t, codes.NotFound, s.LiveStates.Report(piped, liveState("b", model.ResourceState_HEALTHY)))
}

func TestALiveStateAndASyncStateSinceTheLastDeploymentMakeAnApplicationExamined(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	succeed := func(deployment string) {
		require.NoError(t, s.Applications.ReportMostRecentDeployment(piped, "a",
			model.DeploymentStatus_DEPLOYMENT_SUCCESS, &model.ApplicationDeploymentReference{DeploymentId: deployment}))
	}
	synced := func() {
		require.NoError(t, s.Applications.ReportSyncState(piped, "a",
			&model.ApplicationSyncState{Status: model.ApplicationSyncStatus_SYNCED}))
	}
	live := func() {
		require.NoError(t, s.LiveStates.Report(piped, liveState("a", model.ResourceState_HEALTHY)))
	}
	sub, _ := s.Subscribe(false)
	defer sub.Close()
	examined := func() string {
		changes, err := sub.Next(t.Context())
		require.NoError(t, err)
		return changes[len(changes)-1].Application.ExaminedDeploymentID
	}
	succeed("d-1")
	synced()
	require.Empty(t, examined(), "piped says that at the end of a deployment, too")
	live()
	require.Empty(t, examined())
	synced()
	require.Equal(t, "d-1", examined())
	succeed("d-2")
	synced()
	require.Equal(t, "d-1", examined())
	live() // it is as before
	synced()
	require.Equal(t, "d-2", examined())
}

func TestReasonsNameOtherApplicationsByTheirNames(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	const id = "e8a43c4b-db36-5b7b-b968-39fe2cac2ab2"
	importApplication(s, "a", nil)
	s.Applications.Import(&model.Application{Id: id, Name: "shop", PipedId: piped, ProjectId: project,
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "r"}, Path: "shop"}})
	const unknown = "the application e8a43c4b-0000-5b7b-b968-39fe2cac2ab2"
	reason := "belongs to the application " + id + ", not " + unknown
	want := "belongs to the application shop, not " + unknown

	require.NoError(t, s.Applications.ReportSyncState(piped, "a", &model.ApplicationSyncState{
		Status: model.ApplicationSyncStatus_OUT_OF_SYNC, ShortReason: reason, Reason: reason}))
	one, err := s.Applications.Get("a")
	require.NoError(t, err)
	require.Equal(t, want, one.GetSyncState().GetShortReason())
	require.Equal(t, want, one.GetSyncState().GetReason())

	snapshot := liveState("a", model.ResourceState_UNHEALTHY)
	snapshot.GetApplicationLiveState().GetResources()[0].HealthDescription = reason
	require.NoError(t, s.LiveStates.Report(piped, snapshot))
	live, err := s.LiveStates.Resources("a")
	require.NoError(t, err)
	require.Equal(t, want, live.List[0].GetHealthDescription())
}

func TestReadersOfALiveStateLearnThatTheApplicationIsGone(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	require.NoError(t, s.LiveStates.Report(piped, liveState("a", model.ResourceState_HEALTHY)))
	live, err := s.LiveStates.Resources("a")
	require.NoError(t, err)
	require.NoError(t, s.DeleteApplication("a"))
	requireClosed(t, live.News)
	_, err = s.LiveStates.Resources("a")
	requireCode(t, codes.NotFound, err)

	importApplication(s, "b", nil)
	s.Watching("/srv/one")
	live, err = s.LiveStates.Resources("b")
	require.NoError(t, err)
	s.Watching("/srv/two")
	requireClosed(t, live.News)
}

func TestTheFieldsOfADriftBelongToTheNextLiveStateAndHideSecrets(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	report := func(resources ...*livestate.ResourceDrift) error {
		return s.LiveStates.ReportDrift(piped, &agentv1.ReportDriftRequest{ApplicationId: "a", Resources: resources})
	}
	field := func(path, git, live, applied string) *livestate.FieldDrift {
		return &livestate.FieldDrift{Path: path, GitValue: git, LiveValue: live, AppliedValue: applied}
	}
	snapshot := liveState("a", model.ResourceState_HEALTHY)
	snapshot.ApplicationLiveState.Resources[0].ResourceType = "Secret"
	require.NoError(t, report(&livestate.ResourceDrift{ResourceId: "r", Fields: []*livestate.FieldDrift{
		field("data.password", `"old"`, `"new"`, ""), field("metadata.labels.team", `"a"`, `"b"`, `"a"`),
	}}))
	live, err := s.LiveStates.Resources("a")
	require.NoError(t, err)
	require.Empty(t, live.Drifts, "no live state has come with it")
	require.NoError(t, s.LiveStates.Report(piped, snapshot))
	live, err = s.LiveStates.Resources("a")
	require.NoError(t, err)
	fields := live.Drifts["r"].GetFields()
	require.True(t, fields[0].GetSecret())
	require.Equal(t, []string{`"******"`, `"******"`, ""},
		[]string{fields[0].GetGitValue(), fields[0].GetLiveValue(), fields[0].GetAppliedValue()})
	require.Equal(t, `"b"`, fields[1].GetLiveValue())
	require.False(t, fields[1].GetSecret())

	require.NoError(t, s.LiveStates.Report(piped, snapshot))
	live, err = s.LiveStates.Resources("a")
	require.NoError(t, err)
	require.Empty(t, live.Drifts, "a live state without a report of fields has none")

	requireCode(t, codes.InvalidArgument,
		report(&livestate.ResourceDrift{ResourceId: "r", Refused: strings.Repeat("x", 513<<10)}))
	requireCode(t, codes.PermissionDenied, s.LiveStates.ReportDrift("another",
		&agentv1.ReportDriftRequest{ApplicationId: "a"}))
}

func requireClosed(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	default:
		t.Fatal("the reader was not notified")
	}
}
