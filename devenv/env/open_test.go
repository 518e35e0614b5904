// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	"github.com/pipedeck/pipedeck/devenv/cluster/none"
	"github.com/pipedeck/pipedeck/devenv/controlplane/deckapi"
	"github.com/pipedeck/pipedeck/devenv/workspace"
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
	add(e, "nothing", true, none.Provider{})
	add(e, "simulated", true, embedded.New(embedded.Config{Kubeconfig: "kubeconfig"}))
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
}
