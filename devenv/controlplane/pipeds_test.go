// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
)

// join registers a further piped and connects as it.
func (p *plane) join(t *testing.T, name string) (id string, conn *grpc.ClientConn) {
	t.Helper()
	r, err := p.api.RegisterPiped(testContext(t), &apiservice.RegisterPipedRequest{Name: name})
	require.NoError(t, err)
	return r.GetId(), dial(t, p.address, "PIPED-TOKEN proj,"+r.GetId()+","+r.GetKey())
}

func TestTwoPipedsAreKeptApart(t *testing.T) {
	t.Parallel()
	versions := make(chan string, 8)
	p := start(t, func(c *controlplane.Config) { c.PipedConnected = func(version string) { versions <- version } })
	v := p.watch(t, false)
	second, conn := p.join(t, "second")
	ctx := testContext(t)
	for i, conn := range []*grpc.ClientConn{p.pipedConn, conn} {
		_, err := pipedservice.NewPipedServiceClient(conn).ReportPipedMeta(ctx, &pipedservice.ReportPipedMetaRequest{
			Version:      []string{"v1", "v0"}[i],
			Repositories: []*model.ApplicationGitRepository{{Id: "repo", Remote: "/srv/repo", Branch: "main"}},
		})
		require.NoError(t, err)
		_, err = agentv1.NewAgentServiceClient(conn).ReportPlugins(ctx,
			&agentv1.ReportPluginsRequest{Plugins: []*agentv1.Plugin{{
				Name: "wait", Pid: int32(100 + i), State: []agentv1.Plugin_State{agentv1.Plugin_STATE_RUNNING,
					agentv1.Plugin_STATE_FAILED}[i],
			}}})
		require.NoError(t, err)
	}

	v.until(func() bool { return v.plugins["wait"] != nil && v.plugins[second+"/wait"] != nil })
	require.EqualValues(t, 100, v.plugins["wait"].GetPid())
	require.Equal(t, deckv1.Plugin_STATE_RUNNING, v.plugins["wait"].GetState())
	require.EqualValues(t, 101, v.plugins[second+"/wait"].GetPid())
	require.Equal(t, deckv1.Plugin_STATE_FAILED, v.plugins[second+"/wait"].GetState())

	v.until(func() bool { return v.pipeds[second].GetState() == deckv1.Piped_STATE_CONNECTED })
	require.Equal(t, "second", v.pipeds[second].GetName())
	require.Equal(t, "v0", v.pipeds[second].GetVersion())
	require.Equal(t, []string{"repo"}, v.pipeds[second].GetRepositories())
	require.False(t, v.pipeds[second].GetOwn())
	require.Equal(t, "v1", v.pipeds[pipedID].GetVersion())
	require.True(t, v.pipeds[pipedID].GetOwn())
	require.Equal(t, "v1", <-versions)
	require.Empty(t, versions, "the second piped's version is not that of the environment's own")

	_, err := p.deck.RestartPlugin(ctx, &deckv1.RestartPluginRequest{Name: "wait"})
	requireCode(t, codes.FailedPrecondition, err)
	require.ErrorContains(t, err, "2 pipeds run a plugin")
	watch, err := agentv1.NewAgentServiceClient(conn).Watch(ctx, &agentv1.WatchRequest{})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	_, err = p.deck.RestartPlugin(ctx, &deckv1.RestartPluginRequest{Name: "wait", PipedId: second})
	require.NoError(t, err)
	change, err := watch.Recv()
	require.NoError(t, err)
	require.Equal(t, []string{"wait"}, change.GetRestartPlugins())

	_, err = p.api.DisablePiped(ctx, &apiservice.DisablePipedRequest{PipedId: second})
	require.NoError(t, err)
	v.until(func() bool { return v.pipeds[second].GetState() == deckv1.Piped_STATE_DISABLED })
}

func TestAnApplicationNamesItsPiped(t *testing.T) {
	t.Parallel()
	p := start(t)
	v := p.watch(t, false)
	second, conn := p.join(t, "second")
	ctx := testContext(t)
	for i, conn := range []*grpc.ClientConn{p.pipedConn, conn} {
		client := pipedservice.NewPipedServiceClient(conn)
		_, err := client.ReportPipedMeta(ctx, &pipedservice.ReportPipedMetaRequest{
			Repositories: []*model.ApplicationGitRepository{{Id: "repo", Remote: "/srv/repo", Branch: "main"}},
		})
		require.NoError(t, err)
		_, err = client.ReportUnregisteredApplicationConfigurations(ctx,
			&pipedservice.ReportUnregisteredApplicationConfigurationsRequest{
				Applications: []*model.ApplicationInfo{{Name: "web", RepoId: "repo", Path: "web",
					PipedId: []string{pipedID, second}[i]}},
			})
		require.NoError(t, err)
	}
	v.until(func() bool { return len(v.applications) == 2 })
	var owners []string
	for _, a := range v.applications {
		require.Equal(t, "web", a.GetName())
		owners = append(owners, a.GetPipedId())
	}
	require.ElementsMatch(t, []string{pipedID, second}, owners)
}
