// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestAnApplicationGetsTargetsOfThePluginsThatItUses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	s, j := reopen(t, path, store.Limits{})
	kubernetes := &model.Piped_Plugin{Name: "kubernetes", DeployTargets: []string{"local"}}
	reportMeta(t, s, meta("/srv/repo", kubernetes, &model.Piped_Plugin{Name: "wait"}))
	uses := func(path string, plugins ...string) {
		require.NoError(t, s.Applications.ReportPlugins(piped,
			[]*agentv1.ApplicationPlugins{{RepoId: "repo", Path: path, Plugins: plugins}}))
	}
	uses("waits", "wait")
	_, err := s.Applications.Register(piped, []*model.ApplicationInfo{info("unknown"), info("waits"), info("web")})
	require.NoError(t, err)
	uses("web", "kubernetes", "wait")
	targets := func(s *store.Store) map[string][]string {
		all := map[string][]string{}
		for _, a := range applicationsOf(s, piped) {
			all[a.GetName()] = a.GetDeployTargetsByPlugin()["kubernetes"].GetDeployTargets()
		}
		return all
	}
	want := map[string][]string{"unknown": {"local"}, "waits": nil, "web": {"local"}}
	require.Equal(t, want, targets(s), "PipeCD's pipeds report no plugins of applications")
	reportMeta(t, s, meta("/srv/repo", kubernetes))
	require.Equal(t, want, targets(s))
	kept(t, j)
	next, _ := reopen(t, path, store.Limits{})
	require.Equal(t, want, targets(next))
	uses("waits", "wait", "kubernetes")
	require.Equal(t, []string{"local"}, targets(s)["waits"], "its configuration has changed")
}

func TestApplicationsShowThatOnlyUsersDeployThem(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	reportMeta(t, s, meta("/srv/repo"))
	report := func(path string, manual bool) {
		require.NoError(t, s.Applications.ReportPlugins(piped,
			[]*agentv1.ApplicationPlugins{{RepoId: "repo", Path: path, Manual: manual}}))
	}
	report("tool", true)
	_, err := s.Applications.Register(piped, []*model.ApplicationInfo{info("tool"), info("web")})
	require.NoError(t, err)
	manual := func() map[string]bool {
		all := map[string]bool{}
		sub, changes := s.Subscribe(false)
		defer sub.Close()
		for _, change := range changes {
			if change.Application != nil {
				all[change.Application.Model.GetName()] = change.Application.Manual
			}
		}
		return all
	}
	require.Equal(t, map[string]bool{"tool": true, "web": false}, manual())
	report("tool", false)
	report("web", true)
	require.Equal(t, map[string]bool{"tool": false, "web": true}, manual())
}

func TestApplicationsOfAnOlderPipedGetItsPlatformProvider(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	report := func(providers ...*model.Piped_PlatformProvider) {
		r := &pipedservice.ReportPipedMetaRequest{PlatformProviders: providers}
		r.Repositories = meta("/srv/repo").GetRepositories()
		reportMeta(t, s, r)
	}
	report(
		&model.Piped_PlatformProvider{Name: "tf", Type: "TERRAFORM"},
		&model.Piped_PlatformProvider{Name: "one", Type: "KUBERNETES"},
		&model.Piped_PlatformProvider{Name: "two", Type: "KUBERNETES"},
	)
	chosen, terraform := info("chosen"), info("terraform")
	chosen.Labels, terraform.Kind = map[string]string{store.TargetLabel: "two"}, model.ApplicationKind_TERRAFORM
	_, err := s.Applications.Register(piped, []*model.ApplicationInfo{info("plain"), chosen, terraform})
	require.NoError(t, err)
	byHand, err := s.Applications.Add(&model.Application{
		Name: "x", PipedId: piped, PlatformProvider: "mine",
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo"}, Path: "x"},
	})
	require.NoError(t, err)
	providers := func() map[string]string {
		all := map[string]string{}
		for _, a := range applicationsOf(s, piped) {
			require.Equal(t, a.GetPlatformProvider(), a.GetCloudProvider())
			all[a.GetName()] = a.GetPlatformProvider()
			same, err := s.Applications.Get(a.GetId())
			require.NoError(t, err)
			require.Equal(t, a.GetPlatformProvider(), same.GetPlatformProvider(), "pipectl shows what the piped gets")
		}
		listed, _ := s.Applications.List(func(*model.Application) bool { return true }, store.Position{},
			store.Bounds{Items: 100, Bytes: 1 << 20})
		require.Len(t, listed, len(all))
		for _, a := range listed {
			require.Equal(t, all[a.GetName()], a.GetPlatformProvider(), "pipectl lists what the piped gets")
		}
		return all
	}
	require.Equal(t, map[string]string{"plain": "one", "chosen": "two", "terraform": "tf", "x": "mine"}, providers())
	report(&model.Piped_PlatformProvider{Name: "new", Type: "KUBERNETES"})
	require.Equal(t, map[string]string{"plain": "new", "chosen": "", "terraform": "", "x": "mine"}, providers(),
		"they follow its configuration")
	require.NotEmpty(t, byHand)
}
