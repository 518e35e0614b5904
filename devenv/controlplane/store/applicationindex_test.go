// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// joinPiped makes a further piped known, which reports the same repository id as all others.
func joinPiped(t testing.TB, s *store.Store, id string) {
	t.Helper()
	s.Pipeds.Add(id, id, "", store.KeyHash{})
	_, err := s.Pipeds.ReportMeta(id, meta("/srv/"+id))
	require.NoError(t, err)
}

func TestPipedsWithTheSameRepositoryIDAndPathHaveSeparateApplications(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	ids := map[string]bool{}
	for p := range 4 {
		name := fmt.Sprint("piped-", p)
		joinPiped(t, s, name)
		for a := range 5 {
			registered, err := s.Applications.Register(name, []*model.ApplicationInfo{info(fmt.Sprint("app", a))})
			require.NoError(t, err)
			require.Len(t, registered, 1, "application %d of %s", a, name)
		}
	}
	for p := range 4 {
		applications := applicationsOf(s, fmt.Sprint("piped-", p))
		require.Len(t, applications, 5)
		for _, a := range applications {
			ids[a.GetId()] = true
			require.Equal(t, fmt.Sprint("/srv/piped-", p), a.GetGitPath().GetRepo().GetRemote())
		}
	}
	require.Len(t, ids, 20)
}

func TestApplicationsFollowTheRepositoryOfTheirPiped(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	joinPiped(t, s, "legacy")
	_, err := s.Applications.Register("legacy", []*model.ApplicationInfo{info("web")})
	require.NoError(t, err)
	before := applicationsOf(s, "legacy")[0]
	repo := proto.CloneOf(before.GetGitPath().GetRepo())
	repo.Remote, repo.Branch = "https://git.example.com/team/apps.git", "release"
	_, err = s.Pipeds.ReportMeta("legacy",
		&pipedservice.ReportPipedMetaRequest{Repositories: []*model.ApplicationGitRepository{repo}})
	require.NoError(t, err)
	after := applicationsOf(s, "legacy")
	require.Len(t, after, 1)
	require.Equal(t, before.GetId(), after[0].GetId())
	require.Equal(t, "https://git.example.com/team/apps.git", after[0].GetGitPath().GetRepo().GetRemote())
	require.Equal(t, "release", after[0].GetGitPath().GetRepo().GetBranch())
	require.Equal(t, "https://git.example.com/team/apps/tree/release/"+after[0].GetGitPath().GetPath(),
		after[0].GetGitPath().GetUrl())

	_, err = s.Pipeds.ReportMeta("legacy", &pipedservice.ReportPipedMetaRequest{})
	require.NoError(t, err)
	require.Equal(t, "release", applicationsOf(s, "legacy")[0].GetGitPath().GetRepo().GetBranch(),
		"it stays when the repository is not reported")
}

func TestAHundredPipedsRegisterTenThousandApplications(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	var list []*model.ApplicationInfo
	for a := range 100 {
		list = append(list, info(fmt.Sprint("app", a)))
	}
	for p := range 100 {
		name := fmt.Sprint("piped-", p)
		joinPiped(t, s, name)
		registered, err := s.Applications.Register(name, list)
		require.NoError(t, err)
		require.Len(t, registered, 100)
	}
	for p := range 100 {
		require.Len(t, applicationsOf(s, fmt.Sprint("piped-", p)), 100)
	}
}

func TestAddingAnApplicationRewritesNone(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	joinPiped(t, s, piped)
	joinPiped(t, s, "other")
	add := func(pipedID, provider string, kind model.ApplicationKind) (string, error) {
		return s.Applications.Add(&model.Application{
			Name: "a", PipedId: pipedID, PlatformProvider: provider, Kind: kind,
			GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo"}, Path: "a"},
		})
	}
	first, err := add(piped, "one", model.ApplicationKind_KUBERNETES)
	require.NoError(t, err)
	before, err := s.Applications.Get(first)
	require.NoError(t, err)

	again, err := add(piped, "one", model.ApplicationKind_KUBERNETES)
	require.NoError(t, err)
	require.Equal(t, first, again)
	for _, refused := range []func() (string, error){
		func() (string, error) { return add(piped, "two", model.ApplicationKind_KUBERNETES) },
		func() (string, error) { return add(piped, "one", model.ApplicationKind_TERRAFORM) },
	} {
		_, err := refused()
		requireCode(t, codes.AlreadyExists, err)
		require.ErrorContains(t, err, "pipectl application delete --app-id="+first)
	}
	second, err := add("other", "two", model.ApplicationKind_TERRAFORM)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	after, err := s.Applications.Get(first)
	require.NoError(t, err)
	require.Equal(t, before.String(), after.String())
}

func TestAnApplicationDoesNotMoveOntoAnother(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	joinPiped(t, s, piped)
	_, err := s.Applications.Register(piped, []*model.ApplicationInfo{info("a"), info("b")})
	require.NoError(t, err)
	b := applicationsOf(s, piped)[1].GetId()
	path := &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo"}, Path: "a"}
	requireCode(t, codes.AlreadyExists, s.Applications.Move(b, piped, "", path))
	path.Path = "c"
	require.NoError(t, s.Applications.Move(b, piped, "", path))
	registered, err := s.Applications.Register(piped, []*model.ApplicationInfo{info("c"), info("b")})
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, registered, "its old place is free")
}

func TestADeletedApplicationMakesRoomAndStaysAway(t *testing.T) {
	t.Parallel()
	s, clock := newStore(store.Limits{Applications: 2})
	joinPiped(t, s, piped)
	for i := range 6 {
		clock.advance(1e9)
		registered, err := s.Applications.Register(piped, []*model.ApplicationInfo{info(fmt.Sprint(i))})
		require.NoError(t, err)
		require.Len(t, registered, 1)
		require.NoError(t, s.DeleteApplication(applicationsOf(s, piped)[0].GetId()))
	}
	registered, err := s.Applications.Register(piped, []*model.ApplicationInfo{info("5"), info("4")})
	require.NoError(t, err)
	require.Empty(t, registered, "as many deleted applications are remembered as there may be")
	registered, err = s.Applications.Register(piped, []*model.ApplicationInfo{info("a"), info("b"), info("c")})
	requireCode(t, codes.ResourceExhausted, err)
	require.Equal(t, []string{"a", "b"}, registered)
}
