// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func meta(remote string, plugins ...*model.Piped_Plugin) *pipedservice.ReportPipedMetaRequest {
	return &pipedservice.ReportPipedMetaRequest{
		Repositories: []*model.ApplicationGitRepository{{Id: "repo", Remote: remote, Branch: "main"}}, Plugins: plugins,
	}
}

func reportMeta(t *testing.T, s *store.Store, r *pipedservice.ReportPipedMetaRequest) {
	t.Helper()
	name, err := s.Pipeds.ReportMeta(piped, r)
	require.NoError(t, err)
	require.Equal(t, "p1", name)
}

func info(name string) *model.ApplicationInfo {
	return &model.ApplicationInfo{Name: name, RepoId: "repo", Path: name, ConfigFilename: "app.pipecd.yaml",
		PipedId: piped}
}

func TestDeployTargetsFollowThePipedUntilAUserSetsThem(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	kubernetes := &model.Piped_Plugin{Name: "kubernetes", DeployTargets: []string{"local"}}
	reportMeta(t, s, meta("/srv/repo", &model.Piped_Plugin{Name: "wait"}, kubernetes))
	names, err := s.Applications.Register(piped, []*model.ApplicationInfo{info("a"), info("b")})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, names)
	names, err = s.Applications.Register(piped, []*model.ApplicationInfo{info("a")})
	require.NoError(t, err)
	require.Empty(t, names, "it is there already")
	b := store.ApplicationID(piped, "repo", "b", "app.pipecd.yaml")
	require.NoError(t, s.Applications.SetDeployTargets(b,
		map[string]*model.DeployTargets{"kubernetes": {DeployTargets: []string{"mine"}}}))

	reportMeta(t, s, meta("/srv/repo", kubernetes, &model.Piped_Plugin{Name: "ecs", DeployTargets: []string{"aws"}}))
	apps := applicationsOf(s, piped)
	require.Len(t, apps, 2)
	require.Equal(t, []string{"aws"}, apps[0].GetDeployTargetsByPlugin()["ecs"].GetDeployTargets())
	require.Equal(t, []string{"local"}, apps[0].GetDeployTargetsByPlugin()["kubernetes"].GetDeployTargets())
	require.Len(t, apps[1].GetDeployTargetsByPlugin(), 1)
	require.Equal(t, []string{"mine"}, apps[1].GetDeployTargetsByPlugin()["kubernetes"].GetDeployTargets())
}

func TestAnApplicationChoosesItsTargetByALabel(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	reportMeta(t, s, meta("/srv/repo",
		&model.Piped_Plugin{Name: "kubernetes", DeployTargets: []string{"dev", "prod"}},
		&model.Piped_Plugin{Name: "ecs", DeployTargets: []string{"aws"}}))
	chosen, mistaken := info("a"), info("b")
	chosen.Labels, mistaken.Labels = map[string]string{store.TargetLabel: "prod"},
		map[string]string{store.TargetLabel: "prdo"}
	_, err := s.Applications.Register(piped, []*model.ApplicationInfo{chosen, mistaken})
	require.NoError(t, err)
	apps := applicationsOf(s, piped)
	require.Equal(t, []string{"prod"}, apps[0].GetDeployTargetsByPlugin()["kubernetes"].GetDeployTargets())
	require.Equal(t, []string{"aws"}, apps[0].GetDeployTargetsByPlugin()["ecs"].GetDeployTargets(),
		"no other platform is meant")
	require.Empty(t, apps[1].GetDeployTargetsByPlugin(), "a typing mistake deploys nowhere")

	mistaken.Id, mistaken.Labels = apps[1].GetId(), map[string]string{store.TargetLabel: "dev"}
	require.NoError(t, s.Applications.UpdateInfo(piped, []*model.ApplicationInfo{mistaken}))
	require.Equal(t, []string{"dev"}, applicationsOf(s,
		piped)[1].GetDeployTargetsByPlugin()["kubernetes"].GetDeployTargets())
}

func TestAnApplicationAddedByPipectlIsDeployedToTheTargetsOfItsPiped(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	reportMeta(t, s, meta("/srv/repo", &model.Piped_Plugin{Name: "kubernetes", DeployTargets: []string{"local"}}))
	id, err := s.Applications.Add(&model.Application{
		Name: "a", PipedId: piped, PlatformProvider: "c1",
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo"}, Path: "a"},
	})
	require.NoError(t, err)
	stored, err := s.Applications.Get(id)
	require.NoError(t, err)
	require.Empty(t, stored.GetDeployTargetsByPlugin(), "as PipeCD stores it")
	require.Equal(t, []string{"local"},
		applicationsOf(s, piped)[0].GetDeployTargetsByPlugin()["kubernetes"].GetDeployTargets())
	_, err = s.Applications.Add(&model.Application{
		Name: "a", PipedId: piped,
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "other"}, Path: "a"},
	})
	requireCode(t, codes.NotFound, err)
}

func TestADisabledApplicationIsKeptFromItsPiped(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	require.NoError(t, s.Applications.SetDisabled("a", true))
	require.Empty(t, applicationsOf(s, piped))
	require.NoError(t, s.Applications.SetDisabled("a", false))
	require.Len(t, applicationsOf(s, piped), 1)
}

func TestAnApplicationCanMoveAndItsOldPlaceBeTakenAgain(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	reportMeta(t, s, meta("/srv/repo"))
	add := func(path string) string {
		id, err := s.Applications.Add(&model.Application{
			Name: path, PipedId: piped,
			GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo"}, Path: path},
		})
		require.NoError(t, err)
		return id
	}
	first := add("old")
	require.NoError(t, s.Applications.Move(first, piped, "", &model.ApplicationGitPath{
		Repo: &model.ApplicationGitRepository{Id: "repo"}, Path: "new", ConfigFilename: "app.pipecd.yaml",
	}))
	require.Equal(t, first, add("new"))
	require.NotEqual(t, first, add("old"))
	require.NoError(t, s.Applications.RenameConfigFile([]string{first}, "other.yaml"))
	moved, err := s.Applications.Get(first)
	require.NoError(t, err)
	require.Equal(t, "other.yaml", moved.GetGitPath().GetConfigFilename())
}

func TestDirectoriesHaveTheURLsThatPipeCDGivesThem(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"https://github.com/org/repo.git":       "https://github.com/org/repo/tree/main/a",
		"git@github.com:org/repo.git":           "https://github.com/org/repo/tree/main/a",
		"ssh://git@github.com:22/org/repo.git":  "https://github.com/org/repo/tree/main/a",
		"file:///srv/pipe/run/R/repo.git":       "file:///srv/pipe/run/R/repo/tree/main/a",
		"/srv/repo":                             "",
		"https://user@example.com/org/repo.git": "https://example.com/org/repo/tree/main/a",
	} {
		s, _ := newStore(store.Limits{})
		reportMeta(t, s, meta(remote))
		_, err := s.Applications.Register(piped, []*model.ApplicationInfo{info("a")})
		require.NoError(t, err)
		require.Equal(t, want, applicationsOf(s, piped)[0].GetGitPath().GetUrl(), remote)
	}
}

func TestSharedObjectsAreKeptPerApplicationAndBounded(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{ObjectBytes: 10})
	importApplication(s, "a", nil)
	_, err := s.Objects.Get(piped, "a", "p", "k")
	requireCode(t, codes.NotFound, err)
	require.NoError(t, s.Objects.Put(piped, "a", "p", "k", []byte("12345678")))
	require.NoError(t, s.Objects.Put(piped, "a", "p", "k", []byte("87654321")), "it takes the place of the old one")
	requireCode(t, codes.ResourceExhausted, s.Objects.Put(piped, "a", "p", "l", []byte("123")))
	got, err := s.Objects.Get(piped, "a", "p", "k")
	require.NoError(t, err)
	require.Equal(t, "87654321", string(got))
	require.NoError(t, s.DeleteApplication("a"))
	importApplication(s, "b", nil)
	require.NoError(t, s.Objects.Put(piped, "b", "p", "k", []byte("1234567890")),
		"a deleted application frees its room")
}

func TestEventsOfAnOlderPipedChangeTheLiveState(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	event := func(id string, kind model.KubernetesResourceStateEvent_Type) *model.KubernetesResourceStateEvent {
		return &model.KubernetesResourceStateEvent{Id: "e-" + id, ApplicationId: "a", Type: kind,
			State: &model.KubernetesResourceState{Id: id}}
	}
	added := event("r2", model.KubernetesResourceStateEvent_ADD_OR_UPDATED)
	require.Equal(t, []string{"e-r2"}, s.LiveStates.Apply(piped, []*model.KubernetesResourceStateEvent{added}),
		"there is no snapshot yet")
	require.NoError(t, s.LiveStates.Report(piped, &model.ApplicationLiveStateSnapshot{
		ApplicationId: "a",
		Kubernetes:    &model.KubernetesApplicationLiveState{Resources: []*model.KubernetesResourceState{{Id: "r1"}}},
	}))
	require.Empty(t, s.LiveStates.Apply(piped, []*model.KubernetesResourceStateEvent{
		added, event("r1", model.KubernetesResourceStateEvent_DELETED),
	}))
	live, err := s.LiveStates.Get("a")
	require.NoError(t, err)
	require.Len(t, live.GetKubernetes().GetResources(), 1)
	require.Equal(t, "r2", live.GetKubernetes().GetResources()[0].GetId())
}
