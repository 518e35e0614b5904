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

// orphanedStore has an application "a" that is gone from Git and whose last deployment was of commit c1. able is what
// its piped can do.
func orphanedStore(t *testing.T, able store.Abilities) *store.Store {
	t.Helper()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	_, err := s.Pipeds.Watch(piped, able)
	require.NoError(t, err)
	deployTo(t, s, "d1", "c1", success)
	require.NoError(t, s.Applications.ReportMostRecentDeployment(piped, "a", success,
		&model.ApplicationDeploymentReference{DeploymentId: "d1", Trigger: &model.DeploymentTrigger{
			Commit: &model.Commit{Hash: "c1"},
		}}))
	orphan(t, s)
	return s
}

func orphan(t *testing.T, s *store.Store) {
	t.Helper()
	require.NoError(t, s.Applications.ReportSyncState(piped, "a", &model.ApplicationSyncState{
		Status: model.ApplicationSyncStatus_INVALID_CONFIG, ShortReason: "Orphaned: a/app.pipecd.yaml is gone",
		Timestamp: 1,
	}))
}

// removal starts the deployment that removes "a".
func removal(t *testing.T, s *store.Store, id string) {
	t.Helper()
	d := newDeployment(id, "a")
	d.MetadataV2 = &model.DeploymentMetadata{Shared: &model.DeploymentMetadata_KeyValues{
		KeyValues: map[string]string{"pipedeck/remove": "cascade"},
	}}
	require.NoError(t, s.Deployments.Create(piped, d))
}

func end(s *store.Store, id string, status model.DeploymentStatus) error {
	return s.ReportCompleted(piped, &pipedservice.ReportDeploymentCompletedRequest{
		DeploymentId: id, Status: status, CompletedAt: 1,
	})
}

func TestARemovalIsACommandForThePipedAndTheApplicationGoesWithItsSuccess(t *testing.T) {
	t.Parallel()
	s := orphanedStore(t, store.Abilities{DeploysCommits: true, RemovesApplications: true})
	id, err := s.Remove("a", true, "carol")
	require.NoError(t, err)
	again, err := s.Remove("a", true, "carol")
	require.NoError(t, err)
	require.Equal(t, id, again)
	waiting := s.Commands.Waiting(piped)
	require.Len(t, waiting, 1)
	require.Equal(t, map[string]string{"pipedeck/commit": "c1", "pipedeck/remove": "cascade"},
		waiting[0].GetMetadata())

	removal(t, s, "d2")
	_, err = s.Remove("a", true, "carol")
	require.ErrorContains(t, err, "is being removed already, by deployment d2")
	require.NoError(t, end(s, "d2", failure))
	_, err = s.Applications.Get("a")
	require.NoError(t, err, "a removal that fails removes nothing")
	_, err = s.Retry("d2", "carol")
	require.ErrorContains(t, err, "pipedeck remove", "a retry would deploy it")

	removal(t, s, "d3")
	require.NoError(t, end(s, "d3", success))
	require.NoError(t, end(s, "d3", success), "piped reports again what it got no answer to")
	_, err = s.Applications.Get("a")
	requireCode(t, codes.NotFound, err)
}

func TestAPipedThatCannotRemoveGetsNoRemoval(t *testing.T) {
	t.Parallel()
	s := orphanedStore(t, store.Abilities{DeploysCommits: true})
	_, err := s.Remove("a", true, "carol")
	requireCode(t, codes.FailedPrecondition, err)
	require.ErrorContains(t, err, "pipedeck remove a --orphan")

	w, err := s.Pipeds.Watch(piped, store.Abilities{DeploysCommits: true, RemovesApplications: true})
	require.NoError(t, err)
	_, err = s.Remove("a", true, "carol")
	require.NoError(t, err)
	w.Close()
	_, err = s.Pipeds.Watch(piped, store.Abilities{DeploysCommits: true}) // another program with its id
	require.NoError(t, err)
	require.Empty(t, s.Commands.Waiting(piped), "it would deploy the application")
}

func TestOnlyAnApplicationThatIsGoneFromGitOrDisabledIsRemoved(t *testing.T) {
	t.Parallel()
	s := orphanedStore(t, store.Abilities{RemovesApplications: true})
	refused := func(all bool, reason string) {
		t.Helper()
		_, err := s.Remove("a", all, "carol")
		requireCode(t, codes.FailedPrecondition, err)
		require.ErrorContains(t, err, reason)
	}
	require.NoError(t, s.Applications.ReportSyncState(piped, "a", &model.ApplicationSyncState{
		Status: model.ApplicationSyncStatus_SYNCED, Timestamp: 1,
	}))
	refused(true, "is still in Git")
	refused(false, "is still in Git")
	require.NoError(t, s.Applications.SetDisabled("a", true))
	refused(true, "is disabled")
	deployTo(t, s, "d2", "c2", model.DeploymentStatus_DEPLOYMENT_RUNNING)
	refused(false, "pipedeck cancel d2")
	finish(t, s, "d2", success)
	_, err := s.Remove("a", false, "carol")
	require.NoError(t, err)
}

func TestAnApplicationThatComesBackToGitIsRegisteredAgainWithItsID(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	reportMeta(t, s, meta("git@example.com:team/apps.git"))
	found := []*model.ApplicationInfo{{Name: "a", RepoId: "repo", Path: "a", ConfigFilename: "app.pipecd.yaml"}}
	names, err := s.Applications.Register(piped, found)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, names)
	id := store.ApplicationID(piped, "repo", "a", "app.pipecd.yaml")
	require.NoError(t, s.Applications.ReportSyncState(piped, id, &model.ApplicationSyncState{
		Status: model.ApplicationSyncStatus_INVALID_CONFIG, ShortReason: "Orphaned: gone", Timestamp: 1,
	}))
	command, err := s.Remove(id, true, "carol")
	require.NoError(t, err)
	require.Empty(t, command, "it was never deployed, so there is nothing to delete")
	names, err = s.Applications.Register(piped, found)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, names)
	a, err := s.Applications.Get(id)
	require.NoError(t, err)
	require.Nil(t, a.GetSyncState())

	require.NoError(t, s.Applications.SetDisabled(id, true))
	_, err = s.Remove(id, false, "carol")
	require.NoError(t, err)
	names, err = s.Applications.Register(piped, found)
	require.NoError(t, err)
	require.Empty(t, names, "what was removed while Git had it stays removed")
}

func TestAnApplicationFollowsItsConfigurationToAnotherPlace(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	reportMeta(t, s, meta("git@example.com:team/apps.git"))
	at := func(path string) *model.ApplicationInfo {
		return &model.ApplicationInfo{Name: path, RepoId: "repo", Path: path, ConfigFilename: "app.pipecd.yaml"}
	}
	_, err := s.Applications.Register(piped, []*model.ApplicationInfo{at("a"), at("b")})
	require.NoError(t, err)
	id := store.ApplicationID(piped, "repo", "a", "app.pipecd.yaml")
	move := func(path string) string {
		t.Helper()
		info := at(path)
		info.Id, info.Name = id, "a"
		require.NoError(t, s.Applications.UpdateInfo(piped, []*model.ApplicationInfo{info}))
		a, err := s.Applications.Get(id)
		require.NoError(t, err)
		return a.GetGitPath().GetPath()
	}
	require.Equal(t, "c", move("c"))
	require.Equal(t, "c", move("b"), "another application is there")
	names, err := s.Applications.Register(piped, []*model.ApplicationInfo{at("a")})
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, names, "its former place is free")
}
