// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	"github.com/pipedeck/pipedeck/devenv/cluster/none"
	"github.com/pipedeck/pipedeck/devenv/controlplane/deckapi"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/porttest"
)

func TestWhereNothingAnswersOpeningSaysWhy(t *testing.T) {
	t.Parallel()
	add := func(e *Environment, name string, ready bool, provider cluster.Provider) {
		c := &runningCluster{name: name, component: clusterComponent(name), provider: provider, ready: newOnce(),
			images: newOnce()}
		if ready {
			c.ready.happen()
		}
		e.clusters = append(e.clusters, c)
	}
	const again = "pipedeck down && pipedeck up --cluster=kind /src"
	w, err := workspace.At(t.TempDir(), "demo")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(w.SampleRepository(), 0o700))
	const kind = "end this environment, which deletes its clusters, its history and its sample repository with your " +
		"commits, and start one that runs containers: " + again
	e := &Environment{Options: Options{Workspace: w, WithKind: again}}
	e.Logger = slog.New(slog.DiscardHandler)
	add(e, "nothing", true, none.Provider{})
	add(e, "simulated", true, embedded.New(embedded.Config{Kubeconfig: "kubeconfig"}))
	gone := filepath.Join(t.TempDir(), "kubeconfig") // of a server that listens no more
	require.NoError(t, os.WriteFile(gone, []byte("apiVersion: v1\nkind: Config\ncurrent-context: a\n"+
		"contexts: [{name: a, context: {cluster: a, user: a}}]\nclusters: "+
		"[{name: a, cluster: {server: 'https://"+porttest.Address(t)+"'}}]\n"+
		"users: [{name: a, user: {}}]\n"), 0o600))
	add(e, "down", true, embedded.New(embedded.Config{Kubeconfig: gone, LocalPods: true}))
	add(e, "starting", false, embedded.New(embedded.Config{Kubeconfig: "kubeconfig"}))
	for target, says := range map[string]string{
		"nothing":   "this environment has no cluster to reach web in; " + kind,
		"simulated": "the cluster is simulated: no container of web runs that could answer; " + kind,
		"starting":  "cluster starting is still starting; see how far it is with: pipedeck status",
		"elsewhere": `web is deployed to "elsewhere", which is no cluster of this environment; ` +
			`reach it by its own tools`,
	} {
		_, _, err := e.open(t.Context(), deckapi.Opening{ApplicationID: "id", Name: "web", Target: target})
		require.EqualError(t, err, says)
	}
	_, _, err = e.open(t.Context(), deckapi.Opening{ApplicationID: "id", Name: "web", Target: "down"})
	require.ErrorContains(t, err, "cluster down does not answer: ")
	require.ErrorContains(t, err, "connection refused")

	e.WithLocalPods = "pipedeck down && pipedeck up --cluster=embedded /src"
	_, _, err = e.open(t.Context(), deckapi.Opening{ApplicationID: "id", Name: "web", Target: "simulated"})
	require.ErrorContains(t, err, "and start one that runs pods as processes of this machine: "+e.WithLocalPods)
}
